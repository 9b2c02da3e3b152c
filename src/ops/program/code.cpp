#include "program/code.hpp"

#include <algorithm>
#include <numeric>

namespace tilejit::program {

std::string to_string(const Extents& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(extent);
  }
  return text + ")";
}

std::string to_string(const TileType& type) {
  return std::string(tilejit::to_string(type.dtype)) + ' ' + to_string(type.shape);
}

std::int64_t count_of(const Extents& shape) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return INT64_MAX;
  }
  return count;
}

std::optional<Extents> broadcast(const Extents& a, const Extents& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Extents result(rank, 1);
  for (const Extents* shape : {&a, &b}) {
    const std::size_t missing = rank - shape->size();
    for (std::size_t i = 0; i < shape->size(); ++i) {
      std::int64_t& extent = result[missing + i];
      if (extent != 1 && (*shape)[i] != 1 && extent != (*shape)[i]) return std::nullopt;
      if (extent == 1) extent = (*shape)[i];
    }
  }
  return result;
}

std::vector<Extents> shapes_of(const expr::Expression& code, const Extents& space,
                               const std::vector<TileSlot>& tiles) {
  using expr::Op;
  std::vector<Extents> shapes;
  shapes.reserve(code.nodes.size());
  for (const expr::Node& node : code.nodes) {
    Extents shape(space.size(), 1);
    if (node.op == Op::load) {
      const Extents& own = tiles[static_cast<std::size_t>(node.source)].type.shape;
      std::copy(own.begin(), own.end(), shape.end() - static_cast<std::ptrdiff_t>(own.size()));
    }
    for (const expr::NodeId arg : node.args) {
      if (arg == expr::kNoNode) continue;
      const Extents& of = shapes[static_cast<std::size_t>(arg)];
      for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = std::max(shape[i], of[i]);
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (!expr::has_axis(node.axes, i)) continue;
      const bool varies = node.op == Op::index || expr::is_scan(node.op);
      shape[i] = varies ? space[i] : 1;
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::int64_t multiple_of(const Value& value, const Code& code) {
  if (value.code.is_known()) {
    const auto* const known = std::get_if<expr::WideInt>(&value.code.literal);
    return known == nullptr || *known <= 0 || *known > INT64_MAX
               ? 1
               : static_cast<std::int64_t>(*known);
  }
  std::vector<std::int64_t> multiples;
  for (const expr::Node& node : value.code.nodes) {
    std::int64_t multiple = 1;
    if (node.op == expr::Op::constant && is_integer(node.type)) {
      multiple = std::max<std::int64_t>(1, std::get<std::int64_t>(node.constant));
    } else if (node.op == expr::Op::scalar && node.source >= code.first_symbol &&
               node.source < code.first_scalar) {
      multiple =
          code.divisors.at(code.symbols[static_cast<std::size_t>(node.source - code.first_symbol)]);
    } else if (node.op == expr::Op::mul) {
      const auto a = multiples[static_cast<std::size_t>(node.args[0])];
      if (__builtin_mul_overflow(a, multiples[static_cast<std::size_t>(node.args[1])], &multiple)) {
        multiple = a;
      }
    } else if (node.op == expr::Op::add || node.op == expr::Op::sub) {
      multiple = std::gcd(multiples[static_cast<std::size_t>(node.args[0])],
                          multiples[static_cast<std::size_t>(node.args[1])]);
    } else if (node.op == expr::Op::cast) {
      multiple = multiples[static_cast<std::size_t>(node.args[0])];
    }
    multiples.push_back(multiple);
  }
  return multiples.back();
}

std::int64_t multiple_of(const Dim& dim, const Code& code) {
  std::int64_t multiple = dim.factor();
  for (const std::string& symbol : dim.symbols()) {
    const auto divisor = code.divisors.find(symbol);
    if (divisor != code.divisors.end()) multiple *= divisor->second;
  }
  return multiple;
}

}  // namespace tilejit::program
