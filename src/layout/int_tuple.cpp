#include "tilejit/int_tuple.hpp"

#include "layout/int_tuple_reader.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

constexpr int kMaxNesting = 64;
constexpr int kMaxLeaves = 64;

IntTuple read_nested(layout::Reader& reader, int nesting, int& leaves) {
  if (!reader.accept('(')) {
    if (leaves++ == kMaxLeaves) reader.fail("at most 64 extents or strides");
    return reader.read_dim();
  }
  if (nesting == kMaxNesting) reader.fail("at most 64 levels of nesting");
  IntTuple tuple = IntTuple::empty_tuple();
  do {
    tuple.append(read_nested(reader, nesting + 1, leaves));
  } while (reader.accept(','));
  if (!reader.accept(')')) reader.fail("',' or ')'");
  return tuple;
}

}  // namespace

IntTuple layout::read_int_tuple(Reader& reader) {
  int leaves = 0;
  return read_nested(reader, 0, leaves);
}

std::size_t rank(const IntTuple& tuple) noexcept {
  return tuple.rank();
}

std::size_t depth(const IntTuple& tuple) noexcept {
  return tuple.depth();
}

Dim product(const IntTuple& tuple) {
  Dim result = 1;
  for (const Dim& leaf : tuple.leaves()) result = result * leaf;
  return result;
}

IntTuple mode(const IntTuple& tuple, std::size_t i) {
  if (i >= tuple.rank()) {
    throw Error(ErrorCode::invalid_layout, to_string(tuple) + " has " +
                                               std::to_string(tuple.rank()) +
                                               " modes, and no mode " + std::to_string(i));
  }
  return tuple.mode(i);
}

bool congruent(const IntTuple& a, const IntTuple& b) noexcept {
  return a.congruent_to(b);
}

std::string to_string(const IntTuple& tuple) {
  if (tuple.is_leaf()) return to_string(tuple.leaf());
  std::string text = "(";
  tuple.for_each_mode([&](const IntTuple& mode) {
    if (text.size() > 1) text += ',';
    text += to_string(mode);
  });
  return text + ')';
}

IntTuple parse_int_tuple(std::string_view text) {
  layout::Reader reader(text);
  IntTuple tuple = layout::read_int_tuple(reader);
  reader.expect_end();
  return tuple;
}

}  // namespace tilejit
