#include "tilejit/int_tuple.hpp"

#include <algorithm>

#include "layout/int_tuple_reader.hpp"

namespace tilejit {
namespace {

constexpr int kMaxNesting = 64;
constexpr int kMaxLeaves = 64;

void append_leaves(const IntTuple& tuple, std::vector<Dim>& leaves) {
  if (tuple.is_leaf()) {
    leaves.push_back(tuple.leaf());
    return;
  }
  for (const IntTuple& mode : tuple.modes()) append_leaves(mode, leaves);
}

IntTuple read_nested(layout::Reader& reader, int nesting, int& leaves) {
  if (!reader.accept('(')) {
    if (leaves++ == kMaxLeaves) reader.fail("at most 64 extents or strides");
    return reader.read_dim();
  }
  if (nesting == kMaxNesting) reader.fail("at most 64 levels of nesting");
  std::vector<IntTuple> modes;
  do {
    modes.push_back(read_nested(reader, nesting + 1, leaves));
  } while (reader.accept(','));
  if (!reader.accept(')')) reader.fail("',' or ')'");
  return IntTuple::tuple(std::move(modes));
}

}  // namespace

IntTuple layout::read_int_tuple(Reader& reader) {
  int leaves = 0;
  return read_nested(reader, 0, leaves);
}

IntTuple IntTuple::tuple(std::vector<IntTuple> modes) {
  IntTuple result;
  result.modes_ = std::move(modes);
  result.is_leaf_ = false;
  return result;
}

std::size_t rank(const IntTuple& tuple) noexcept {
  return tuple.is_leaf() ? 1 : tuple.modes().size();
}

std::size_t depth(const IntTuple& tuple) noexcept {
  if (tuple.is_leaf()) return 0;
  std::size_t deepest = 0;
  for (const IntTuple& mode : tuple.modes()) deepest = std::max(deepest, depth(mode));
  return deepest + 1;
}

Dim product(const IntTuple& tuple) {
  if (tuple.is_leaf()) return tuple.leaf();
  Dim result = 1;
  for (const IntTuple& mode : tuple.modes()) result = result * product(mode);
  return result;
}

const IntTuple& mode(const IntTuple& tuple, std::size_t i) {
  return tuple.is_leaf() ? tuple : tuple.modes().at(i);
}

std::vector<Dim> flatten(const IntTuple& tuple) {
  std::vector<Dim> leaves;
  append_leaves(tuple, leaves);
  return leaves;
}

bool congruent(const IntTuple& a, const IntTuple& b) noexcept {
  if (a.is_leaf() || b.is_leaf()) return a.is_leaf() && b.is_leaf();
  return std::ranges::equal(a.modes(), b.modes(),
                            [](const auto& x, const auto& y) { return congruent(x, y); });
}

std::string to_string(const IntTuple& tuple) {
  if (tuple.is_leaf()) return to_string(tuple.leaf());
  std::string text = "(";
  for (const IntTuple& mode : tuple.modes()) {
    if (text.size() > 1) text += ',';
    text += to_string(mode);
  }
  return text + ')';
}

IntTuple parse_int_tuple(std::string_view text) {
  layout::Reader reader(text);
  IntTuple tuple = layout::read_int_tuple(reader);
  reader.expect_end();
  return tuple;
}

}  // namespace tilejit
