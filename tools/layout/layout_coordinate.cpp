#include "layout/layout_coordinate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/command.hpp"
#include "layout/layout_value.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit::cli {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

using Path = std::vector<std::size_t>;

/// A sum of a number and of products with symbols.
struct Sum {
  std::int64_t number = 0;
  std::vector<std::string> terms = {};

  [[nodiscard]] std::string text() const {
    std::string result;
    for (const std::string& term : terms) result += (result.empty() ? "" : " + ") + term;
    if (result.empty()) return std::to_string(number);
    return number == 0 ? result : result + " + " + std::to_string(number);
  }
};

/// The text of `dim` beside another operator: a product is in parentheses, as in "(2*N)".
std::string operand(const Dim& dim) {
  const std::string text = to_string(dim);
  return text.find('*') == text.npos ? text : "(" + text + ")";
}

/// Adds up where a layout leads, one sum for each mode of the resulting coordinates. The sum of a
/// plain index has the path {}.
class Walk {
 public:
  Walk(const Layout& layout, const WrittenCoordinate& coordinate, Domain domain)
      : leaf_(coordinate.leaves.begin()), domain_(domain) {
    for (const Mode& mode : layout.leaves()) {
      if (const auto step = coordinate_step(mode.stride)) sums_[step->path];
    }
    if (sums_.empty()) sums_[{}];
    visit(coordinate.value, layout);
  }

  [[nodiscard]] Position position() const {
    const Sum& first = sums_.begin()->second;
    if (!sums_.begin()->first.empty()) return {nested(sums_, 0)};
    if (!first.terms.empty()) return {first.text()};
    return {first.text(), first.number};
  }

 private:
  using Sums = std::map<Path, Sum>;

  void visit(const Coordinate& coordinate, const Layout& layout) {
    if (!coordinate.is_leaf()) {
      if (depth(layout) == 0 || rank(layout) != coordinate.rank()) refuse(coordinate, layout);
      for (std::size_t i = 0; i < rank(layout); ++i) visit(coordinate.mode(i), mode(layout, i));
      return;
    }
    const WrittenCoordinate::Leaf& leaf = *leaf_++;
    if (coordinate.leaf().is_underscore()) return;
    if (leaf.symbol.empty()) {
      add_number(coordinate.leaf().value(), layout);
    } else {
      add_symbol(leaf.symbol, layout);
    }
  }

  [[noreturn]] static void refuse(const Coordinate& coordinate, const Layout& layout) {
    (void)dice(coordinate, layout);  // throws the better message if there is an integer
    throw UsageError(
        fmt::format("{} is not nested as {}", to_string(coordinate), to_string(layout)));
  }

  void add_number(std::int64_t number, const Layout& layout) {
    std::int64_t left = number;
    const auto leaves = layout.leaves();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const Mode& leaf = leaves[i];
      const bool is_last = i + 1 == leaves.size();
      if (left == 0) return;
      if (!leaf.extent.is_known()) {
        if (!is_last) refuse_split(std::to_string(number), layout);
      } else if (is_last && domain_ == Domain::checked && left >= leaf.extent.value()) {
        throw UsageError(
            fmt::format("the coordinate {} is outside of {}", number, to_string(layout)));
      }
      const std::int64_t rest = is_last ? 0 : left / leaf.extent.value();
      add(Dim(is_last ? left : left % leaf.extent.value()) * leaf.stride);
      left = rest;
    }
  }

  [[noreturn]] static void refuse_split(const std::string& number, const Layout& layout) {
    throw UsageError(
        fmt::format("{} is split by extents of {} that are not known; give each mode a "
                    "coordinate of its own",
                    number, to_string(layout)));
  }

  void add(const Dim& distance) {
    if (distance.is(0)) return;
    const auto step = coordinate_step(distance);
    Sum& sum = sums_[step ? step->path : Path()];
    const Dim steps = step ? step->steps : distance;
    if (!steps.is_known()) return sum.terms.push_back(to_string(steps));
    if (__builtin_add_overflow(sum.number, steps.value(), &sum.number))
      throw UsageError("the index exceeds 2^63-1");
  }

  /// Each mode of the coalesced layout takes its own part of the symbol's value.
  void add_symbol(const std::string& symbol, const Layout& layout) {
    const Layout merged = coalesce(layout);
    const auto leaves = merged.leaves();
    Dim before = 1;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      std::string term = symbol;
      if (!before.is(1)) term += "//" + operand(before);
      if (i + 1 < leaves.size()) term += "%" + operand(leaves[i].extent);
      before = before * leaves[i].extent;
      if (leaves[i].stride.is(0)) continue;
      const auto step = coordinate_step(leaves[i].stride);
      const Dim steps = step ? step->steps : leaves[i].stride;
      if (!steps.is(1)) term += "*" + to_string(steps);
      sums_[step ? step->path : Path()].terms.push_back(term);
    }
  }

  /// The sums as one coordinate. Their paths share the first `level` modes.
  static std::string nested(const Sums& sums, std::size_t level) {
    if (sums.size() == 1 && sums.begin()->first.size() == level) return sums.begin()->second.text();
    std::map<std::size_t, Sums> modes;
    for (const auto& [path, sum] : sums) {
      if (path.size() == level)
        throw UsageError("the strides are no coordinate: use steps such as 1@0 and 1@1 alone");
      modes[path[level]][path] = sum;
    }
    std::string text = "(";
    for (std::size_t i = 0; i <= modes.rbegin()->first; ++i) {
      const auto mode = modes.find(i);
      text += (i == 0 ? "" : ",") + (mode == modes.end() ? "0" : nested(mode->second, level + 1));
    }
    return text + ")";
  }

  std::vector<WrittenCoordinate::Leaf>::const_iterator leaf_;
  Domain domain_;
  Sums sums_;
};

/// The same coordinate with `_` in place of each integer, and 0 in place of each `_`.
Coordinate inverted(const Coordinate& coordinate) {
  return coordinate.map([](const CoordinateLeaf& leaf) -> CoordinateLeaf {
    if (leaf.is_underscore()) return 0;
    return Underscore{};
  });
}

/// The coordinate's text, with CuTe's mark of a static integer on every integer.
std::string marked_text(const Coordinate& coordinate) {
  if (coordinate.is_leaf()) return "_" + to_string(coordinate.leaf());
  std::string text = "(";
  for (std::size_t i = 0; i < coordinate.rank(); ++i)
    text += (i == 0 ? "" : ",") + marked_text(coordinate.mode(i));
  return text + ")";
}

std::string text_of(const Coordinate& index, const IntTuple& shape,
                    std::vector<WrittenCoordinate::Leaf>::const_iterator& leaf) {
  if (index.is_leaf()) {
    const WrittenCoordinate::Leaf& own = *leaf++;
    if (!own.symbol.empty() && shape.is_leaf()) return own.symbol;
    if (!own.symbol.empty())
      return position_at(coordinate_layout(shape), {index, {own}}, Domain::open).text;
    const Coordinate found = idx2crd(index, shape);
    return own.is_static ? marked_text(found) : to_string(found);
  }
  if (shape.is_leaf() || shape.rank() != index.rank()) return to_string(idx2crd(index, shape));
  std::string text = "(";
  for (std::size_t i = 0; i < index.rank(); ++i)
    text += (i == 0 ? "" : ",") + text_of(index.mode(i), shape.mode(i), leaf);
  return text + ")";
}

}  // namespace

bool is_known(const Layout& layout) {
  return std::ranges::all_of(layout.leaves(), [](const Mode& leaf) {
    return leaf.extent.is_known() && leaf.stride.is_known();
  });
}

bool WrittenCoordinate::has_symbols() const {
  return std::ranges::any_of(leaves, [](const Leaf& leaf) { return !leaf.symbol.empty(); });
}

const Coordinate& WrittenCoordinate::numbers(std::string_view operation) const {
  if (!has_symbols()) return value;
  const auto symbol =
      std::ranges::find_if(leaves, [](const Leaf& leaf) { return !leaf.symbol.empty(); });
  throw UsageError(
      fmt::format("{} takes numbers here, found the symbol {}", operation, symbol->symbol));
}

WrittenCoordinate parse_written_coordinate(std::string_view text) {
  std::string plain;
  std::vector<WrittenCoordinate::Leaf> leaves;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_name) -
        text.begin());
    const std::string_view word = text.substr(at, end - at);
    if (word.empty()) {
      plain += text[at++];
      continue;
    }
    at = end;
    const bool is_static =
        word.size() > 1 && word[0] == '_' && std::all_of(word.begin() + 1, word.end(), is_digit);
    const bool is_symbol = !is_static && !is_digit(word[0]) && word != "_";
    if (is_symbol) (void)Dim(word);  // refuses long names
    leaves.push_back({is_static, is_symbol ? std::string(word) : std::string()});
    plain += is_symbol ? "0" : std::string(word.substr(is_static ? 1 : 0));
  }
  return {parse_coordinate(plain), std::move(leaves)};
}

WrittenCoordinate written(Coordinate value) {
  const std::size_t count = value.leaves().size();
  return {std::move(value), std::vector<WrittenCoordinate::Leaf>(count)};
}

Position position_at(const Layout& layout, const WrittenCoordinate& coordinate, Domain domain) {
  return Walk(layout, coordinate, domain).position();
}

WrittenSlice slice_at(const WrittenCoordinate& coordinate, const Layout& layout) {
  if (!coordinate.has_symbols() && is_known(layout)) {
    const Slice plain = slice(coordinate.value, layout);
    return {plain.layout, {std::to_string(plain.offset), plain.offset}};
  }
  const bool any = std::ranges::any_of(
      coordinate.value.leaves(), [](const CoordinateLeaf& leaf) { return leaf.is_underscore(); });
  if (!any) {
    throw UsageError(
        fmt::format("slice: the coordinate {} leaves no mode; use the layout itself, or "
                    "a '_'",
                    to_string(coordinate.value)));
  }
  return {dice(inverted(coordinate.value), layout),
          position_at(layout, coordinate, Domain::checked)};
}

WrittenAnswer coordinate_in(const WrittenCoordinate& index, const IntTuple& shape) {
  auto leaf = index.leaves.begin();
  const std::string text = text_of(index.value, shape, leaf);
  if (index.has_symbols()) return {text, text};
  return {text, make_answer(idx2crd(index.value, shape)).json};
}

}  // namespace tilejit::cli
