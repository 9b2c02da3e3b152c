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
  load,      ///< element of tensor Node::source, converted exactly to the node's type
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
  extent,       ///< the product of the extents of Node::axes, in i64 or in the compute type
  reduce_sum,   ///< reductions of args[0] over Node::axes, in its type: i64, u64, float
  reduce_prod,  ///< the same
  reduce_min,   ///< NaN is ignored; all NaN: NaN; empty: infinity or the greatest value
  reduce_max,   ///< NaN is ignored; all NaN: NaN; empty: -infinity or the least value
  reduce_any,   ///< b8; empty: false
  reduce_all,   ///< b8; empty: true
  reduce_argmin,  ///< i64, of a number: the first place of the least value, row-major over the axes
                  ///< in ascending order; NaN is ignored; 0 if there is no other value
  reduce_argmax,  ///< the same for the greatest value
  scan_sum,   ///< scans: each place along the one axis of Node::axes gets the reduction of args[0]
              ///< up to there, in the type of the reduction; Node::exclusive, Node::reverse
  scan_prod,  ///< the same
  scan_min,   ///< the same; an exclusive one starts from infinity or the greatest value
  scan_max,   ///< the same; an exclusive one starts from -infinity or the least value
  matmul,     ///< product of matrices over the last two axes of args[0] and args[1], which have
              ///< spaces of their own (formula/product.hpp). Each element of an operand is rounded
              ///< to the operand's type; sums are not rounded to the node's type, as all values
};

/// The name of `op` as in the enumeration.
[[nodiscard]] std::string_view to_string(Op op) noexcept;
/// True for reduce_sum to reduce_argmax.
[[nodiscard]] bool is_reduction(Op op) noexcept;

/// True for scan_sum to scan_max.
[[nodiscard]] bool is_scan(Op op) noexcept;
/// True for operations that combine the values of several elements: reductions and scans.
[[nodiscard]] bool combines_elements(Op op) noexcept;

/// True for reduce_argmin and reduce_argmax.
[[nodiscard]] constexpr bool finds_place(Op op) noexcept {
  return op == Op::reduce_argmin || op == Op::reduce_argmax;
}

/// True for sin, cos and tan.
[[nodiscard]] constexpr bool is_trigonometric(Op op) noexcept {
  return op == Op::sin || op == Op::cos || op == Op::tan;
}

/// Node::axes has no bits for more axes. Larger spaces have no reductions, scans, iota or extent.
inline constexpr int kMaxReducedRank = 32;
/// True if the bit of `axis` is set in `axes`.
[[nodiscard]] constexpr bool has_axis(std::uint32_t axes, std::size_t axis) noexcept {
  return axis < kMaxReducedRank && (axes >> axis & 1) != 0;
}

using NodeId = std::int32_t;
inline constexpr NodeId kNoNode = -1;

/// Integers and bool are stored in std::int64_t (u64 by its bits), floating values in double.
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
  bool exclusive = false;  ///< a scan: combines the values before each place, without its own
  bool reverse = false;    ///< a scan: goes from the last place to the first
  /// Floating constants are compared by their bits: nan equals nan, 0.0 differs from -0.0.
  friend bool operator==(const Node& a, const Node& b) noexcept;
};

/// Writes `value`, which has the tensor's dtype, to the element of tensor `tensor`.
struct Store {
  int tensor = -1;
  NodeId value = kNoNode;
  bool operator==(const Store&) const = default;
};

/// A formula, parsed and typed: a list of values without duplicates or dead nodes. A value belongs
/// to one coordinate of the iteration space. A reduction combines the values along its axes into
/// one value, which all coordinates share that differ only along these axes. A scan combines the
/// values up to each coordinate. Narrow floating types compute in f32 (f64 in f64); only casts and
/// stores round to them. An output that is read after its assignment has the stored value.
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
  std::vector<int> axis = {};  ///< for reductions and scans that name none; empty: the last axis
};

/// Parses and types `formula`. Throws Error{invalid_formula}: the message has the line, a caret
/// under the place, and what was expected; where() is "/formula" or "/functions/NAME/expr". Limits:
/// 64 KiB of text, 200 levels of nesting, and, after functions are inlined, 20,000 nodes of which
/// 1,000 are heavier than an addition.
[[nodiscard]] Program compile_formula(std::string_view formula, const Scope& scope);

/// The axes of the iteration space that a value depends on: bit i is axis i.
struct ValueAxes {
  std::uint32_t varying = 0;  ///< it may differ along these
  std::uint32_t reduced = 0;  ///< it was reduced over these and does not vary along them
  bool operator==(const ValueAxes&) const = default;
};
/// The axes of every node's value. `tensor_axes` has, for each tensor, the axes along which it does
/// not repeat.
[[nodiscard]] std::vector<ValueAxes> axes_of_values(const Program& program,
                                                    std::span<const std::uint32_t> tensor_axes);

/// True if `name` may not name a tensor, scalar, function or temporary: keywords, constants,
/// dtypes, and built-in functions except those that declared names hide.
[[nodiscard]] bool is_reserved(std::string_view name) noexcept;

/// One line per node, such as "v2: f32 = add v0 v1", "v3: f32 = reduce_max v2 axes 0,1" or "v4: f32
/// = scan_sum v2 axes 1 exclusive reverse". For plans, keys and messages. Deterministic.
[[nodiscard]] std::vector<std::string> to_lines(const Program& program);

/// The approximate cost of a node, or of all nodes, to the compiler and the processor, in
/// additions.
[[nodiscard]] int weight(const Node& node) noexcept;
[[nodiscard]] std::int64_t weight(const Program& program) noexcept;

/// A sum that can be computed in the same pass as the reduction that its terms are relative to.
/// Of exp(x - max(x)), or of exp2: when the maximum of some elements grows, their partial sum only
/// has to be multiplied by a factor (M. Milakov, N. Gimelshein, "Online normalizer calculation for
/// softmax", 2018). Of x - mean(x), or of its square: partial sums about one centre give those
/// about another (tile/centred.cuh).
struct JoinedSum {
  NodeId maximum = kNoNode;  ///< max(x); kNoNode: the node is no sum of exponentials
  bool guarded = false;      ///< subtracts a finite constant if the maximum is -infinity
  NodeId total = kNoNode;    ///< sum(x); kNoNode: the node is no sum of distances or of squares
  NodeId mean = kNoNode;     ///< sum(x) / extent
  bool squares = false;
  [[nodiscard]] bool joins() const noexcept { return maximum != kNoNode || total != kNoNode; }
};
/// The JoinedSum of each node: only those of exponentials, or also those about a mean.
[[nodiscard]] std::vector<JoinedSum> rescaled_sums(const Program& program);
[[nodiscard]] std::vector<JoinedSum> joined_sums(const Program& program);
/// For each node, the passes over elements that it needs: one for each reduction of another
/// reduction's result. Those in `sums` share the pass of what they are relative to.
[[nodiscard]] std::vector<int> passes_before(const Program& program,
                                             const std::vector<JoinedSum>& sums);

/// Device functions that `emit_cuda` calls. In programs of more than 4096 in weight each heavy
/// function is emitted once, as a function that is not inlined: inlined everywhere it would keep
/// the compiler busy for minutes. Empty for lighter programs.
[[nodiscard]] std::string emit_cuda_functions(const Program& program);
/// The body of the device function that computes one element: one statement per node. It reads
/// loads from `t<tensor>` and scalars from `p.s<scalar>`, and writes stores to `y<tensor>`, all in
/// compute types: the caller converts from and to storage. No text of the formula appears in it.
/// Throws Error{unsupported} for reductions, scans, products, index and extent, which need more
/// than one element.
[[nodiscard]] std::string emit_cuda(const Program& program);
/// The part of a program that one device function computes.
struct Slice {
  std::vector<bool> nodes;    ///< the nodes to compute; their operands are computed too, or given
  std::vector<Store> stores;  ///< of values among them
  /// The text of a given value: of reductions, scans, products, index and extent. Empty for all
  /// other nodes.
  std::function<std::string(NodeId)> given;
  /// Values, besides those stored, that the text after the slice reads as v<id>.
  std::vector<NodeId> results = {};
};
/// Long slices are emitted in a form whose compile time grows with their length, not with its cube:
/// without const, and split into functions of 1024 nodes that are not inlined.
[[nodiscard]] std::string emit_cuda(const Program& program, const Slice& slice);
/// The cost of the slice to the compiler, in the unit of `weight`. Heavy functions of long programs
/// count as calls.
[[nodiscard]] std::int64_t emitted_weight(const Program& program, const Slice& slice);
/// The device function that computes `id`, which is not an operator, cast or combination.
[[nodiscard]] std::string emit_function(const Program& program, NodeId id);
/// A constant of `type` as a literal of its compute type.
[[nodiscard]] std::string emit_constant(const Constant& value, DType type);
/// The device expression that combines `a` and `b`: two partial results of the reduction or scan
/// `node` (not reduce_argmin, reduce_argmax), or a partial result and an element.
[[nodiscard]] std::string emit_combination(const Node& node, const std::string& a,
                                           const std::string& b);
/// The device type that computes values of `type`: "float", "double", "i8", "bool", ...
[[nodiscard]] std::string_view compute_type(DType type) noexcept;
/// The device type that stores them: "f16", "b8", ...
[[nodiscard]] std::string_view storage_type(DType type) noexcept;

}  // namespace tilejit::expr
