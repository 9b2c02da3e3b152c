#include "expr/typer.hpp"

#include <algorithm>
#include <vector>

#include "expr/promotion.hpp"

namespace tilejit::expr {
namespace {

bool is_comparison(Op op) {
  return op >= Op::lt && op <= Op::gt;
}

void refuse_literal(std::string_view function, const Value& x) {
  if (!x.is_weak()) return;
  const std::string name(function);
  fault("'" + name + "' of a literal has no dtype: cast it first, e.g. " + name + "(i64(" +
        to_string(x.weak) + "))");
}

bool all_weak(std::span<const Value> values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_weak(); });
}

std::string_view spelling(Op op) {
  switch (op) {
    case Op::shl: return "<<";
    case Op::shr: return ">>";
    case Op::bit_and: return "&";
    case Op::bit_or: return "|";
    case Op::bit_xor: return "^";
    default: return "~";
  }
}

bool is_narrow_float(DType type) {
  return is_floating(type) && type != f32 && type != f64;
}

}  // namespace

std::string Typer::describe(const Value& value) const {
  return value.is_weak() ? to_string(value.weak) : std::string(to_string(type_of(value)));
}

DType Typer::common_type(std::span<const Value> values) const {
  std::optional<DType> type;
  std::optional<DType> literals;
  for (const Value& value : values) {
    if (value.is_weak()) {
      const DType next = default_type(value.weak);
      literals = literals ? promote(*literals, next).value_or(u64) : next;
      continue;
    }
    const DType next = type_of(value);
    const auto both = type ? promote(*type, next) : next;
    if (!both) {
      const std::string first(to_string(*type));
      const std::string second(to_string(next));
      fault("cannot combine " + first + " and " + second + ": cast one of them first, e.g. to " +
            (is_floating(*type) || is_floating(next) ? "f32" : "i64"));
    }
    type = both;
  }
  if (!type) return *literals;
  if (!literals || is_floating(*type)) return *type;
  if (is_floating(*literals)) return f32;
  return *type == b8 && *literals != b8 ? i32 : *type;
}

DType Typer::number_type(std::span<const Value> values) const {
  const DType type = common_type(values);
  return type == b8 ? i32 : type;
}

bool Typer::is_rounded(NodeId id) const {
  const Node& node = graph_[id];
  if (node.op == Op::cast) return true;
  return node.op == Op::load && node.type != tf32;  // a tf32 tensor may hold any f32
}

NodeId Typer::convert(NodeId id, DType type) {
  return graph_[id].type == type ? id : graph_.operation(Op::cast, type, id);
}

NodeId Typer::operand(const Value& value, DType type) {
  return value.is_weak() ? graph_.constant(type, operand_constant(value.weak, type))
                         : convert(value.node, type);
}

NodeId Typer::cast(const Value& value, DType type) {
  if (value.is_weak()) return graph_.constant(type, cast_weak(value.weak, type));
  const NodeId node = value.node;
  if (graph_[node].type == type && is_narrow_float(type) && !is_rounded(node)) {
    return graph_.operation(Op::cast, type, node);
  }
  return convert(node, type);
}

NodeId Typer::stored(const Value& value, DType type) {
  if (!value.is_weak()) return convert(value.node, type);
  const bool in_category =
      is_floating(type) || (is_integer(type) && default_type(value.weak) != f32);
  if (!in_category) return cast(value, type);
  return graph_.constant(type, operand_constant(value.weak, type, "give the tensor a wider dtype"));
}

NodeId Typer::truth(const Value& value) {
  return cast(value, b8);
}

NodeId Typer::numbers(Op op, const Value& a, const Value& b) {
  const DType type = number_type({{a, b}});
  const NodeId left = operand(a, type);
  return graph_.operation(op, type, left, operand(b, type));
}

Value Typer::unary(Op op, const Value& a) {
  if (a.is_weak()) return fold_unary(op, a.weak);
  const DType type = type_of(a);
  if (op == Op::logical_not) return graph_.operation(op, b8, truth(a));
  if (op == Op::neg) {
    const DType number = number_type({{a}});
    return graph_.operation(op, number, operand(a, number));
  }
  if (type == b8) return graph_.operation(Op::logical_not, b8, a.node);
  if (is_floating(type)) fault("'~' takes an integer or bool, not " + describe(a));
  return graph_.operation(op, type, a.node);
}

Value Typer::plus(const Value& a) {
  if (!a.is_weak()) return operand(a, number_type({{a}}));
  if (const auto* truth = std::get_if<bool>(&a.weak)) return Weak(WideInt{*truth});
  return a;
}

Value Typer::binary(Op op, const Value& a, const Value& b) {
  if (a.is_weak() && b.is_weak()) return fold_binary(op, a.weak, b.weak);
  if (is_comparison(op)) return compare(op, a, b);
  switch (op) {
    case Op::div: return divide(a, b);
    case Op::pow: return power(a, b);
    case Op::logical_and:
    case Op::logical_or: {
      const NodeId left = truth(a);
      return graph_.operation(op, b8, left, truth(b));
    }
    case Op::shl:
    case Op::shr:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor: return bitwise(op, a, b);
    default: return numbers(op, a, b);
  }
}

NodeId Typer::matmul(const Value& a, const Value& b, int number) {
  if (a.is_weak() || b.is_weak()) {
    fault("'@' takes two matrices, not " + describe(a) + " and " + describe(b) +
          ": a literal has no shape");
  }
  const DType left = type_of(a), right = type_of(b);
  if (const auto type = product_type(left, right)) {
    Node node;
    node.op = Op::matmul;
    node.type = *type;
    node.args = {a.node, b.node, kNoNode};
    node.source = number;
    return graph_.add(node);
  }
  const std::string types = describe(a) + " and " + describe(b);
  const DType narrow = size_bytes(left) <= size_bytes(right) ? left : right;
  if (left == right || !is_floating(left) || !is_floating(right)) {
    fault("'@' has no product of " + types +
          ": cast both to one of f16, bf16, f32 and f64, or to i8 or u8");
  }
  const bool has_own = product_type(narrow, narrow).has_value();
  const std::string cast(to_string(has_own && narrow != tf32 ? narrow : f32));
  fault("'@' has no product of " + types + ": cast one of them, e.g. " + cast + "(...)");
}

NodeId Typer::divide(const Value& a, const Value& b) {
  const DType common = common_type({{a, b}});
  const DType type = is_floating(common) ? common : f32;
  const NodeId left = operand(a, type);
  return graph_.operation(Op::div, type, left, operand(b, type));
}

// x ** 2 and x ** 3 of floating values become products: as exact as a power function and far
// faster.
NodeId Typer::power(const Value& a, const Value& b) {
  const DType type = number_type({{a, b}});
  const double exponent = b.is_weak() ? to_double(b.weak) : 0;
  if (!is_floating(type) || (exponent != 2 && exponent != 3)) return numbers(Op::pow, a, b);
  const NodeId base = operand(a, type);
  const NodeId square = graph_.operation(Op::mul, type, base, base);
  return exponent == 2 ? square : graph_.operation(Op::mul, type, square, base);
}

NodeId Typer::bitwise(Op op, const Value& a, const Value& b) {
  const DType type = common_type({{a, b}});
  const bool is_shift = op == Op::shl || op == Op::shr;
  if (is_floating(type) || (is_shift && type == b8)) {
    fault("'" + std::string(spelling(op)) + "' takes integers" + (is_shift ? "" : " or bools") +
          ", not " + describe(a) + " and " + describe(b));
  }
  const NodeId left = operand(a, type);
  return graph_.operation(op, type, left, operand(b, type));
}

NodeId Typer::compare(Op op, const Value& a, const Value& b) {
  const DType type = common_type({{a, b}});
  const NodeId left = operand(a, type);
  return graph_.operation(op, b8, left, operand(b, type));
}

NodeId Typer::select(const Value& condition, const Value& a, const Value& b) {
  const DType type = common_type({{a, b}});
  const NodeId c = truth(condition);
  const NodeId first = operand(a, type);
  return graph_.operation(Op::where, type, c, first, operand(b, type));
}

NodeId Typer::extremum(Op op, std::span<const Value> args) {
  const DType type = number_type(args);
  NodeId result = operand(args[0], type);
  for (const Value& next : args.subspan(1)) {
    result = graph_.operation(op, type, result, operand(next, type));
  }
  return result;
}

NodeId Typer::clamp(std::span<const Value> args) {
  const DType type = number_type(args);
  const NodeId x = operand(args[0], type);
  const NodeId low = operand(args[1], type);
  return graph_.operation(Op::clamp, type, x, low, operand(args[2], type));
}

NodeId Typer::math(Op op, const Value& a) {
  const DType type = type_of(a);
  const bool is_unsigned = type == b8 || category(type) == Category::unsigned_integer;
  switch (op) {
    case Op::abs:
      if (is_unsigned) return operand(a, number_type({{a}}));
      return graph_.operation(op, type, a.node);
    case Op::relu: {
      const NodeId x = operand(a, number_type({{a}}));
      return is_unsigned ? x : graph_.operation(op, graph_[x].type, x);
    }
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
      if (!is_floating(type)) return operand(a, number_type({{a}}));
      return graph_.operation(op, type, a.node);
    default: {
      const DType floating = is_floating(type) ? type : f32;
      return graph_.operation(op, floating, operand(a, floating));
    }
  }
}

NodeId Typer::math(Op op, std::span<const Value> args) {
  const DType common = common_type(args);
  const DType type = is_floating(common) ? common : f32;
  const NodeId first = operand(args[0], type);
  return graph_.operation(op, type, first, operand(args[1], type));
}

NodeId Typer::multiply_add(std::span<const Value> args) {
  const DType type = number_type(args);
  const NodeId a = operand(args[0], type);
  const NodeId b = operand(args[1], type);
  const NodeId c = operand(args[2], type);
  if (is_floating(type)) return graph_.operation(Op::fma, type, a, b, c);
  return graph_.operation(Op::add, type, graph_.operation(Op::mul, type, a, b), c);
}

Value Typer::call(Op op, std::span<const Value> args) {
  const bool is_extremum = op == Op::min || op == Op::max;
  if (all_weak(args)) {
    std::vector<Weak> weak;
    for (const Value& arg : args) weak.push_back(arg.weak);
    if (!is_extremum) return fold_call(op, weak);
    Weak result = weak[0];
    for (std::size_t i = 1; i < weak.size(); ++i) result = fold_call(op, {{result, weak[i]}});
    return result;
  }
  if (is_extremum) return extremum(op, args);
  switch (op) {
    case Op::where: return select(args[0], args[1], args[2]);
    case Op::pow: return power(args[0], args[1]);
    case Op::clamp: return clamp(args);
    case Op::fma: return multiply_add(args);
    case Op::atan2:
    case Op::copysign:
    case Op::hypot: return math(op, args);
    default: return math(op, args[0]);
  }
}

// Sums and products of integers are computed in 64 bits; narrow floating types compute in f32
// anyway.
DType Typer::total_type(const Value& x) const {
  const DType type = type_of(x);
  if (is_floating(type)) return type;
  return category(type) == Category::unsigned_integer ? u64 : i64;
}

NodeId Typer::total(Op op, std::uint32_t axes, const Value& x) {
  const DType result = total_type(x);
  return graph_.over_axes(op, result, axes, operand(x, result));
}

NodeId Typer::mean(std::uint32_t axes, const Value& x) {
  const DType type = is_floating(type_of(x)) ? type_of(x) : f32;
  const NodeId sum = graph_.over_axes(Op::reduce_sum, type, axes, operand(x, type));
  // The extent gets the floating type directly; a cast would round the count to a narrow type.
  return graph_.operation(Op::div, type, sum, graph_.over_axes(Op::extent, type, axes));
}

NodeId Typer::variance(std::uint32_t axes, const Value& x) {
  const NodeId center = mean(axes, x);
  const DType type = graph_[center].type;
  const NodeId distance = graph_.operation(Op::sub, type, operand(x, type), center);
  return mean(axes, graph_.operation(Op::mul, type, distance, distance));
}

NodeId Typer::reduced(Reduction::Kind kind, std::uint32_t axes, const Value& x) {
  using Kind = Reduction::Kind;
  const DType number = number_type({{x}});
  switch (kind) {
    case Kind::sum: return total(Op::reduce_sum, axes, x);
    case Kind::prod: return total(Op::reduce_prod, axes, x);
    case Kind::mean: return mean(axes, x);
    case Kind::var: return variance(axes, x);
    case Kind::min: return graph_.over_axes(Op::reduce_min, number, axes, operand(x, number));
    case Kind::max: return graph_.over_axes(Op::reduce_max, number, axes, operand(x, number));
    case Kind::any: return graph_.over_axes(Op::reduce_any, b8, axes, truth(x));
    case Kind::all: return graph_.over_axes(Op::reduce_all, b8, axes, truth(x));
    case Kind::argmin: return graph_.over_axes(Op::reduce_argmin, i64, axes, operand(x, number));
    case Kind::argmax: return graph_.over_axes(Op::reduce_argmax, i64, axes, operand(x, number));
  }
  return kNoNode;
}

bool Typer::is_uniform(const Value& value) const {
  if (value.is_weak()) return true;
  NodeId id = value.node;
  while (graph_[id].op == Op::cast || graph_[id].op == Op::neg) id = graph_[id].args[0];
  return graph_[id].op == Op::scalar || graph_[id].op == Op::constant;
}

Value Typer::with_init(Reduction::Kind kind, const Value& result, const Value& init) {
  using Kind = Reduction::Kind;
  if (!is_uniform(init)) fault("init= takes a literal or a scalar");
  switch (kind) {
    case Kind::sum: return binary(Op::add, result, init);
    case Kind::prod: return binary(Op::mul, result, init);
    case Kind::min: return extremum(Op::min, {{result, init}});
    case Kind::max: return extremum(Op::max, {{result, init}});
    case Kind::any: return binary(Op::logical_or, result, init);
    default: return binary(Op::logical_and, result, init);
  }
}

Value Typer::reduce(const Reduction& reduction, std::uint32_t axes, const Value& x,
                    const std::optional<Value>& init) {
  refuse_literal(reduction.name, x);
  const Value result = reduced(reduction.kind, axes, x);
  return init ? with_init(reduction.kind, result, *init) : result;
}

Value Typer::scan(const Scan& scan, const ScanOrder& order, const Value& x) {
  refuse_literal(scan.name, x);
  const bool is_total = scan.op == Op::scan_sum || scan.op == Op::scan_prod;
  Node node;
  node.op = scan.op;
  node.type = is_total ? total_type(x) : number_type({{x}});
  node.args[0] = operand(x, node.type);
  node.axes = order.axis;
  node.exclusive = order.exclusive;
  node.reverse = order.reverse;
  return graph_.add(node);
}

}  // namespace tilejit::expr
