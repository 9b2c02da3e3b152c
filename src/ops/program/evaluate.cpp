#include "program/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arithmetic/cast.hpp"
#include "arithmetic/convert.hpp"
#include "arithmetic/operations.hpp"
#include "expr/real_function.hpp"

namespace tilejit::program {
namespace {

using expr::Node;
using expr::Op;

std::size_t operands_of(const Node& node) {
  return static_cast<std::size_t>(
      std::ranges::count_if(node.args, [](expr::NodeId id) { return id != expr::kNoNode; }));
}

TileData constant(const Node& node, const Extents& shape) {
  TileData data({node.type, shape});
  if (data.is_real()) {
    const auto* const integer = std::get_if<std::int64_t>(&node.constant);
    std::ranges::fill(data.reals, integer != nullptr ? static_cast<double>(*integer)
                                                     : std::get<double>(node.constant));
  } else {
    std::ranges::fill(data.integers, std::get<std::int64_t>(node.constant));
  }
  return data;
}

/// The product of the extents of the node's axes in `space`.
std::int64_t extent_of(const Node& node, const Extents& space) {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (expr::has_axis(node.axes, i)) product *= space[i];
  }
  return product;
}

/// How two values of a reduction or scan are combined. NaN is ignored by min and max.
double combined(Op op, double a, double b) {
  switch (op) {
    case Op::reduce_sum:
    case Op::scan_sum: return a + b;
    case Op::reduce_prod:
    case Op::scan_prod: return a * b;
    case Op::reduce_min:
    case Op::scan_min: return std::fmin(a, b);
    default: return std::fmax(a, b);
  }
}

std::int64_t combined(Op op, DType type, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::reduce_sum:
    case Op::scan_sum: return arithmetic::apply(Op::add, type, {a, b, 0});
    case Op::reduce_prod:
    case Op::scan_prod: return arithmetic::apply(Op::mul, type, {a, b, 0});
    case Op::reduce_min:
    case Op::scan_min: return arithmetic::apply(Op::min, type, {a, b, 0});
    case Op::reduce_any: return a | b;
    case Op::reduce_all: return a & b;
    default: return arithmetic::apply(Op::max, type, {a, b, 0});
  }
}

/// What a reduction of no values gives.
struct Neutral {
  double real = 0;
  std::int64_t integer = 0;
};

Neutral neutral_of(Op op, DType type) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const bool floating = is_floating(type);
  switch (op) {
    case Op::reduce_prod:
    case Op::scan_prod:
    case Op::reduce_all: return {1, 1};
    case Op::reduce_min:
    case Op::scan_min:
      return {kInf,
              floating ? 0
              : arithmetic::is_signed(type)
                  ? arithmetic::wrap(~std::uint64_t{0} >> (65 - arithmetic::width(type)), type)
                  : arithmetic::wrap(~std::uint64_t{0}, type)};
    case Op::reduce_max:
    case Op::scan_max:
      return {-kInf,
              floating || !arithmetic::is_signed(type)
                  ? 0
                  : arithmetic::wrap(std::uint64_t{1} << (arithmetic::width(type) - 1), type)};
    default: return {};
  }
}

/// For each element of the space, row-major, the element of a result that has 1 along `axes`.
std::vector<std::size_t> places_in_result(const Extents& space, const Extents& shape) {
  return broadcast_places(shape, space);
}

}  // namespace

const TileData& Evaluation::argument(const Node& node, std::size_t i) const {
  return values_[static_cast<std::size_t>(node.args[i])];
}

TileData Evaluation::run() {
  const expr::Expression& code = value_.code;
  if (code.is_known()) {
    const DType type = expr::default_type(code.literal);
    TileData data({type, {}});
    if (const auto* const real = std::get_if<double>(&code.literal)) {
      data.reals[0] = *real;
    } else if (const auto* const integer = std::get_if<expr::WideInt>(&code.literal)) {
      data.integers[0] = static_cast<std::int64_t>(*integer);
    } else {
      data.integers[0] = std::get<bool>(code.literal) ? 1 : 0;
    }
    return data;
  }
  const std::vector<Extents> shapes = shapes_of(code, value_.space, slots_);
  values_.reserve(code.nodes.size());
  for (std::size_t i = 0; i < code.nodes.size(); ++i) {
    values_.push_back(node_value(code.nodes[i], shapes[i]));
    operations_ += static_cast<std::int64_t>(values_.back().size());
  }
  return std::move(values_[static_cast<std::size_t>(code.value)]);
}

TileData Evaluation::node_value(const Node& node, const Extents& shape) {
  switch (node.op) {
    case Op::constant: return constant(node, shape);
    case Op::load: {
      TileData data = tile_(node.source);
      data.type.shape = shape;  // with axes of 1 in front
      return data;
    }
    case Op::scalar: {
      TileData data = scalar_(node.source);
      data.type.shape = shape;
      return data;
    }
    case Op::index: return index(node, shape);
    case Op::extent: {
      Node extent = node;
      const std::int64_t product = extent_of(node, value_.space);
      extent.constant = product;
      return constant(extent, shape);
    }
    default: break;
  }
  if (expr::is_reduction(node.op)) return reduced(node, shape);
  if (expr::is_scan(node.op)) return scanned(node, shape);
  return elementwise(node, shape);
}

TileData Evaluation::index(const Node& node, const Extents& shape) const {
  TileData data({node.type, shape});
  for (std::size_t i = 0; i < data.integers.size(); ++i) {
    data.integers[i] = static_cast<std::int64_t>(i);  // one axis varies
  }
  return data;
}

TileData Evaluation::elementwise(const Node& node, const Extents& shape) {
  const std::size_t count = operands_of(node);
  TileData result({node.type, shape});
  std::vector<std::vector<std::size_t>> places(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Extents& own = argument(node, i).type.shape;
    if (own != shape) places[i] = broadcast_places(own, shape);
  }
  const auto place = [&](std::size_t operand, std::size_t i) {
    return places[operand].empty() ? i : places[operand][i];
  };
  const std::size_t size = result.size();
  if (node.op == Op::where) {
    const TileData& condition = argument(node, 0);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t chosen = condition.integers[place(0, i)] != 0 ? 1 : 2;
      copy_element(argument(node, chosen), place(chosen, i), result, i);
    }
    return result;
  }
  const TileData& first = argument(node, 0);
  if (node.op == Op::cast) {
    const DType from = first.type.dtype;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = place(0, i);
      if (first.is_real() && result.is_real()) {
        result.reals[i] = arithmetic::cast_real(from, node.type, first.reals[at]);
      } else if (first.is_real()) {
        result.integers[i] = arithmetic::real_to_integer(first.reals[at], node.type);
      } else if (result.is_real()) {
        result.reals[i] = arithmetic::cast_integer(from, node.type, first.integers[at]);
      } else {
        result.integers[i] = arithmetic::integer_to_integer(first.integers[at], node.type);
      }
    }
    return result;
  }
  const bool compares = arithmetic::is_comparison(node.op);
  for (std::size_t i = 0; i < size; ++i) {
    arithmetic::Reals reals{};
    arithmetic::Integers integers{};
    for (std::size_t operand = 0; operand < count; ++operand) {
      const TileData& from = argument(node, operand);
      if (from.is_real()) {
        reals[operand] = from.reals[place(operand, i)];
      } else {
        integers[operand] = from.integers[place(operand, i)];
      }
    }
    if (compares) {
      result.integers[i] = first.is_real() ? expr::compare(node.op, reals[0], reals[1])
                                           : arithmetic::compare(node.op, first.type.dtype,
                                                                 integers[0], integers[1]);
    } else if (result.is_real()) {
      result.reals[i] = arithmetic::apply(node.op, reals);
    } else {
      result.integers[i] = arithmetic::apply(node.op, node.type, integers);
    }
  }
  return result;
}

TileData Evaluation::reduced(const Node& node, const Extents& shape) {
  // Values that do not vary along a reduced axis count once per element of it.
  Extents space = argument(node, 0).type.shape;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (expr::has_axis(node.axes, i)) space[i] = value_.space[i];
  }
  const TileData values = expanded(argument(node, 0), space);
  operations_ += static_cast<std::int64_t>(values.size());
  const std::vector<std::size_t> places = places_in_result(space, shape);
  TileData result({node.type, shape});
  if (expr::finds_place(node.op)) {
    // Places count the reduced axes row-major, in the order of their elements here.
    TileData best({values.type.dtype, shape});
    std::vector<std::int64_t> seen(result.size(), 0);
    std::vector<bool> found(result.size(), false);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t at = places[i];
      const std::int64_t number = seen[at]++;
      bool better = !found[at];
      const Op less = node.op == Op::reduce_argmin ? Op::lt : Op::gt;
      if (values.is_real()) {
        if (std::isnan(values.reals[i])) continue;
        better = better || expr::compare(less, values.reals[i], best.reals[at]);
      } else {
        better = better || arithmetic::compare(less, values.type.dtype, values.integers[i],
                                               best.integers[at]);
      }
      if (!better) continue;
      found[at] = true;
      copy_element(values, i, best, at);
      result.integers[at] = number;
    }
    return result;
  }
  std::vector<bool> any(result.size(), false);
  const Neutral neutral = neutral_of(node.op, node.type);
  std::ranges::fill(result.reals, neutral.real);
  std::ranges::fill(result.integers, neutral.integer);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t at = places[i];
    if (result.is_real()) {
      result.reals[at] =
          any[at] ? combined(node.op, result.reals[at], values.reals[i]) : values.reals[i];
      any[at] = true;
    } else {
      result.integers[at] = combined(node.op, node.type, result.integers[at], values.integers[i]);
    }
  }
  return result;
}

TileData Evaluation::scanned(const Node& node, const Extents& shape) {
  const TileData values = expanded(argument(node, 0), shape);
  TileData result({node.type, shape});
  std::size_t axis = 0;
  while (!expr::has_axis(node.axes, axis)) ++axis;
  std::size_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i)
    stride *= static_cast<std::size_t>(shape[i]);
  const auto extent = static_cast<std::size_t>(shape[axis]);
  const Neutral neutral = neutral_of(node.op, node.type);
  for (std::size_t first = 0; first < values.size(); ++first) {
    if (first / stride % extent != 0) continue;
    double real = neutral.real;
    std::int64_t integer = neutral.integer;
    for (std::size_t k = 0; k < extent; ++k) {
      const std::size_t at = first + (node.reverse ? extent - 1 - k : k) * stride;
      const bool begins = k == 0;
      if (result.is_real()) {
        const double next = begins ? values.reals[at] : combined(node.op, real, values.reals[at]);
        result.reals[at] = node.exclusive ? real : next;
        real = next;
      } else {
        const std::int64_t next = combined(node.op, node.type, integer, values.integers[at]);
        result.integers[at] = node.exclusive ? integer : next;
        integer = next;
      }
    }
  }
  return result;
}

}  // namespace tilejit::program
