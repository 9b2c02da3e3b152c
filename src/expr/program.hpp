#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilejit/dtype.hpp"

namespace tilejit::expr {

/// Operations of the typed program. Unless noted, operands have the node's own type.
enum class Op : std::uint8_t {
  constant,  ///< Node::constant
  load,      ///< element of tensor Node::source, converted exactly to its own type
  scalar,    ///< run-time scalar Node::source
  cast,      ///< one operand of any type, converted to Node::type (rules: docs/formulas.md)
  neg,
  bit_not,
  logical_not,  ///< b8
  add,
  sub,
  mul,
  div,        ///< floating types only; `/` on integers casts to f32 first
  floor_div,  ///< rounds to minus infinity; integer x // 0 is 0
  mod,        ///< sign of the divisor; integer x % 0 is 0
  pow,
  shl,  ///< a count outside [0, width) gives 0
  shr,  ///< arithmetic for signed types; a count outside [0, width) gives 0 or -1
  bit_and,
  bit_or,
  bit_xor,
  logical_and,  ///< b8
  logical_or,   ///< b8
  lt,           ///< comparisons: type b8, both operands of one other type
  le,
  eq,
  ne,
  ge,
  gt,
  where,  ///< (b8, type, type)
  min,    ///< of two; a NaN operand is ignored
  max,
  abs,
  exp,  ///< exp to gelu_tanh: floating types only
  exp2,
  log,
  log2,
  sqrt,
  rsqrt,
  sin,
  cos,
  tan,
  tanh,
  erf,
  floor,
  ceil,
  round,  ///< half to even
  sigmoid,
  silu,
  gelu,       ///< x * Phi(x), by erf
  gelu_tanh,  ///< the tanh approximation
  asin,       ///< asin to erfc: floating types only
  acos,
  atan,
  sinh,
  cosh,
  log10,
  log1p,  ///< log(1 + x)
  expm1,  ///< exp(x) - 1
  cbrt,
  erfc,         ///< 1 - erf(x)
  trunc,        ///< floating types only: towards zero
  atan2,        ///< (y, x); atan2 to fma: floating types only
  copysign,     ///< the magnitude of the first with the sign of the second
  hypot,        ///< sqrt(a^2 + b^2), without overflow on the way
  fma,          ///< a * b + c, rounded once
  relu,         ///< NaN stays NaN
  clamp,        ///< (x, lo, hi): x < lo becomes lo, then what exceeds hi becomes hi; NaN stays NaN
  index,        ///< i64: the coordinate along Node::axes, which is one axis
  extent,       ///< the product of the extents of Node::axes, in i64 or as the type computes it
  reduce_sum,   ///< reductions of args[0] over Node::axes; of the argument's type: i64, u64, float
  reduce_prod,  ///< the same
  reduce_min,   ///< NaN is ignored; all NaN: NaN; of nothing: infinity or the greatest value
  reduce_max,   ///< NaN is ignored; all NaN: NaN; of nothing: -infinity or the least value
  reduce_any,   ///< b8; of nothing: false
  reduce_all,   ///< b8; of nothing: true
  reduce_argmin,  ///< i64 of a number: the first place of the least value, row-major over the axes
                  ///< in ascending order; NaN is ignored; 0 if there is nothing else
  reduce_argmax,  ///< the same of the greatest value
  scan_sum,   ///< scans: at each place along the one axis of Node::axes the reduction of args[0] up
              ///< to there, in the type of the reduction; Node::exclusive, Node::reverse
  scan_prod,  ///< the same
  scan_min,   ///< the same, but an exclusive one starts from infinity, or the greatest value
  scan_max,   ///< the same, from -infinity or the least value
};

/// The name of `op` as in the enumeration.
[[nodiscard]] std::string_view to_string(Op op) noexcept;
/// True for reduce_sum to reduce_argmax.
[[nodiscard]] bool is_reduction(Op op) noexcept;

/// True for scan_sum to scan_max.
[[nodiscard]] bool is_scan(Op op) noexcept;
/// True for what combines values of several elements: reductions and scans.
[[nodiscard]] bool combines_elements(Op op) noexcept;

/// True for reduce_argmin and reduce_argmax.
[[nodiscard]] constexpr bool finds_place(Op op) noexcept {
  return op == Op::reduce_argmin || op == Op::reduce_argmax;
}

/// Node::axes has no bits for more: in larger spaces reductions, scans, iota and extent are
/// refused.
inline constexpr int kMaxReducedRank = 32;
/// Whether bit `axis` of a set of axes is set.
[[nodiscard]] constexpr bool has_axis(std::uint32_t axes, std::size_t axis) noexcept {
  return axis < kMaxReducedRank && (axes >> axis & 1) != 0;
}

using NodeId = std::int32_t;
inline constexpr NodeId kNoNode = -1;

/// Integers and bool are held in std::int64_t (u64 by its bits), floating values in double.
using Constant = std::variant<std::int64_t, double>;

/// One value. Operands come before their users.
struct Node {
  Op op = Op::constant;
  DType type = DType::f32;
  std::array<NodeId, 3> args = {kNoNode, kNoNode, kNoNode};
  Constant constant = std::int64_t{0};  ///< Op::constant only
  int source = -1;         ///< Op::load: index of the tensor; Op::scalar: of the scalar
  std::uint32_t axes = 0;  ///< bit i: axis i of the iteration space, first mode first; for
                           ///< reductions, scans, index and extent
  bool exclusive = false;  ///< a scan: of what lies before a place, without its own value
  bool reverse = false;    ///< a scan: from the last place to the first
  /// Floating constants are compared by their bits: nan equals nan, 0.0 differs from -0.0.
  friend bool operator==(const Node& a, const Node& b) noexcept;
};

/// `value` (of the tensor's dtype) is written to the element of tensor `tensor`.
struct Store {
  int tensor = -1;
  NodeId value = kNoNode;
  bool operator==(const Store&) const = default;
};

/// A formula, parsed and typed: a list of values without duplicates or dead nodes. A value belongs
/// to one coordinate of the iteration space; a reduction combines those along its axes into one
/// value for all coordinates that differ along these axes only, a scan those up to each coordinate.
/// Narrow floating types compute in f32 (f64 in f64) and are rounded by casts and stores only; an
/// output read after its assignment has the value that was stored.
struct Program {
  std::vector<Node> nodes = {};
  std::vector<Store> stores = {};  ///< in order of first assignment; one per output tensor
  bool operator==(const Program&) const = default;
};

/// What a formula may refer to.
struct TensorSymbol {
  std::string name = {};
  DType dtype = DType::f32;
  bool readable_first = true;  ///< false for tensors declared `out`
  bool writable = true;        ///< false for tensors declared `in`
  bool must_declare = true;    ///< access is automatic: reading before writing needs `inout`
};
struct ScalarSymbol {
  std::string name = {};
  DType dtype = DType::f32;
};
struct FunctionText {
  std::string name = {};
  std::vector<std::string> args = {};
  std::string expr = {};
};
struct Scope {
  std::vector<TensorSymbol> tensors = {};
  std::vector<ScalarSymbol> scalars = {};
  std::vector<FunctionText> functions = {};
  int rank = 1;                ///< axes of the iteration space
  std::vector<int> axis = {};  ///< of reductions and scans that name none; empty: the last
};

/// Parses and types `formula`. Throws Error{invalid_formula}: the message has the line, a caret
/// under the place, and what was expected; where() is "/formula" or "/functions/NAME/expr". Limits:
/// 64 KiB of text, 200 levels of nesting, 20,000 nodes after functions are inlined, 1,000 of them
/// heavier than an addition.
[[nodiscard]] Program compile_formula(std::string_view formula, const Scope& scope);

/// The axes of the iteration space that a value has to do with: bit i is axis i.
struct ValueAxes {
  std::uint32_t varying = 0;  ///< it may differ along these
  std::uint32_t reduced = 0;  ///< it was reduced over these, and does not vary along them
  bool operator==(const ValueAxes&) const = default;
};
/// Of every node. `tensor_axes`: for each tensor the axes along which it does not repeat.
[[nodiscard]] std::vector<ValueAxes> axes_of_values(const Program& program,
                                                    std::span<const std::uint32_t> tensor_axes);

/// True if `name` may not name a tensor, scalar, function or temporary (keywords, constants,
/// dtypes, built-in functions except those that declared names hide).
[[nodiscard]] bool is_reserved(std::string_view name) noexcept;

/// One line a node, e.g. "v2: f32 = add v0 v1", "v3: f32 = reduce_max v2 axes 0,1" or "v4: f32 =
/// scan_sum v2 axes 1 exclusive reverse": for plans, keys and messages. Deterministic.
[[nodiscard]] std::vector<std::string> to_lines(const Program& program);

/// What a node, or all of them, cost the compiler and the processor, in additions, roughly.
[[nodiscard]] int weight(const Node& node) noexcept;
[[nodiscard]] std::int64_t weight(const Program& program) noexcept;

/// A sum of exp(x - max(x)), or of exp2, which can be folded in the pass of the maximum: below the
/// maximum of some elements it is the one below another maximum but for a factor (M. Milakov,
/// N. Gimelshein, "Online normalizer calculation for softmax", 2018).
struct RescaledSum {
  NodeId maximum = kNoNode;  ///< kNoNode: of other nodes
  bool guarded = false;      ///< what is subtracted is a finite constant where -infinity is the
                             ///< maximum, as in where(m > -inf, m, 0)
};
/// By node.
[[nodiscard]] std::vector<RescaledSum> rescaled_sums(const Program& program);
/// By node: the passes over elements that it needs, one for each reduction of another's result;
/// `sums` are folded with their maxima.
[[nodiscard]] std::vector<int> passes_before(const Program& program,
                                             const std::vector<RescaledSum>& sums);

/// Device functions that `emit_cuda` calls: in programs of more than 4096 in weight each heavy
/// function is a function of the machine code too, once, since inlined everywhere it would keep the
/// compiler busy for minutes. Empty for others.
[[nodiscard]] std::string emit_cuda_functions(const Program& program);
/// The body of the device function that computes one element: one statement a node. Loads read
/// `t<tensor>`, scalars `p.s<scalar>`, stores write `y<tensor>`, all in compute types: the caller
/// converts from storage and rounds to it. Text of the formula does not appear in it. Throws
/// Error{unsupported} for reductions, scans, index and extent, which are not the work of one
/// element.
[[nodiscard]] std::string emit_cuda(const Program& program);
/// A part of a program that one device function computes.
struct Slice {
  std::vector<bool> nodes;    ///< those to compute; operands of them are computed or given
  std::vector<Store> stores;  ///< of values among them
  /// The text of a value that is given: of reductions, scans, index and extent. Empty for all
  /// others.
  std::function<std::string(NodeId)> given;
  /// What the text after the slice reads as v<id>, beside what it stores.
  std::vector<NodeId> results = {};
};
/// Long slices take a form that the compiler is done with in a time that grows with their length,
/// not with its cube: no const, and a function of the machine code for every 1024 nodes.
[[nodiscard]] std::string emit_cuda(const Program& program, const Slice& slice);
/// What the slice costs the compiler, as `weight` counts it, heavy functions of long programs as
/// the calls that they are.
[[nodiscard]] std::int64_t emitted_weight(const Program& program, const Slice& slice);
/// The device function that computes `id`, which is no operator, cast or combination.
[[nodiscard]] std::string emit_function(const Program& program, NodeId id);
/// A constant of `type` as a literal of its compute type.
[[nodiscard]] std::string emit_constant(const Constant& value, DType type);
/// The device expression that combines `a` and `b`, which both hold results of the reduction or
/// scan `node` (not of reduce_argmin, reduce_argmax) over parts of its axes, or a result and an
/// element.
[[nodiscard]] std::string emit_combination(const Node& node, const std::string& a,
                                           const std::string& b);
/// The device type that computes values of `type`: "float", "double", "i8", "bool", ...
[[nodiscard]] std::string_view compute_type(DType type) noexcept;

}  // namespace tilejit::expr
