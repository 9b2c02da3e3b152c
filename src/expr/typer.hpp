#pragma once

#include <optional>
#include <span>
#include <string>

#include "expr/graph.hpp"
#include "expr/names.hpp"
#include "expr/weak.hpp"

namespace tilejit::expr {

/// A typed node of the graph, or a weak value.
struct Value {
  NodeId node = kNoNode;  ///< kNoNode: `weak` is the value
  Weak weak = false;

  Value(NodeId id) : node(id) {}  // NOLINT: implicit, so that either kind is written as its value
  Value(Weak value) : weak(std::move(value)) {}  // NOLINT
  [[nodiscard]] bool is_weak() const noexcept { return node == kNoNode; }
};

/// The axis of a scan, and its order.
struct ScanOrder {
  std::uint32_t axis = 0;  ///< as a bit
  bool exclusive = false;
  bool reverse = false;
};

/// The type rules: which operands may be combined, in which type, and which nodes that takes. Every
/// operation throws Fault for operands that it does not accept.
class Typer {
 public:
  explicit Typer(Graph& graph) : graph_(graph) {}

  Value unary(Op op, const Value& a);
  /// Unary plus. It turns a bool into a number.
  Value plus(const Value& a);
  Value binary(Op op, const Value& a, const Value& b);
  /// The product of two matrices, each an operand of a type of its own; `number` is Node::source.
  NodeId matmul(const Value& a, const Value& b, int number);
  /// A built-in function. The caller has checked the number of arguments.
  Value call(Op op, std::span<const Value> args);
  /// A reduction over `axes` (not empty); `init` is combined with its result once. `var` is the
  /// mean of squares.
  Value reduce(const Reduction& reduction, std::uint32_t axes, const Value& x,
               const std::optional<Value>& init);
  Value scan(const Scan& scan, const ScanOrder& order, const Value& x);
  /// The coordinate along the one axis of `axes`.
  Value index(std::uint32_t axes) { return graph_.over_axes(Op::index, i64, axes); }
  /// The product of the extents of `axes`.
  Value extent(std::uint32_t axes) { return graph_.over_axes(Op::extent, i64, axes); }
  /// A cast as written: narrow floating types are rounded even if the type does not change.
  NodeId cast(const Value& value, DType type);
  /// What is stored when `value` is assigned to a tensor of `type`.
  NodeId stored(const Value& value, DType type);

 private:
  [[nodiscard]] DType type_of(const Value& value) const { return graph_[value.node].type; }
  /// What a message calls the operand: "f16", or the text of the literal.
  [[nodiscard]] std::string describe(const Value& value) const;
  /// The type in which `values` meet; their default type if all are weak.
  [[nodiscard]] DType common_type(std::span<const Value> values) const;
  /// The same for numbers: bool counts as i32.
  [[nodiscard]] DType number_type(std::span<const Value> values) const;
  /// `value` as an operand of `type`.
  NodeId operand(const Value& value, DType type);
  NodeId truth(const Value& value);
  NodeId numbers(Op op, const Value& a, const Value& b);
  NodeId convert(NodeId node, DType type);
  /// True if the value is known to be one that the narrow floating type can hold.
  [[nodiscard]] bool is_rounded(NodeId node) const;

  NodeId divide(const Value& a, const Value& b);
  NodeId power(const Value& a, const Value& b);
  NodeId bitwise(Op op, const Value& a, const Value& b);
  NodeId compare(Op op, const Value& a, const Value& b);
  NodeId select(const Value& condition, const Value& a, const Value& b);
  NodeId extremum(Op op, std::span<const Value> args);
  NodeId clamp(std::span<const Value> args);
  NodeId math(Op op, const Value& a);
  /// A function of several floating values.
  NodeId math(Op op, std::span<const Value> args);
  NodeId multiply_add(std::span<const Value> args);
  /// The type of a sum or product of `x`.
  [[nodiscard]] DType total_type(const Value& x) const;
  NodeId total(Op op, std::uint32_t axes, const Value& x);
  NodeId mean(std::uint32_t axes, const Value& x);
  NodeId variance(std::uint32_t axes, const Value& x);
  NodeId reduced(Reduction::Kind kind, std::uint32_t axes, const Value& x);
  Value with_init(Reduction::Kind kind, const Value& result, const Value& init);
  /// True for a scalar, and for results of operations on scalars and literals only.
  [[nodiscard]] bool is_uniform(const Value& value) const;

  Graph& graph_;
};

}  // namespace tilejit::expr
