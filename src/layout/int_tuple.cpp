#include "tilejit/int_tuple.hpp"

#include "layout/int_tuple_reader.hpp"
#include "layout/nested_modes.hpp"
#include "tilejit/error.hpp"

namespace tilejit {

IntTuple layout::read_int_tuple(Reader& reader) {
  int leaves = 0;
  return read_nested<Dim>(
      reader, [](Reader& from) { return from.read_dim(); }, "extents or strides", leaves);
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
    throw Error(ErrorCode::invalid_layout, core::shortened(to_string(tuple)) + " has " +
                                               std::to_string(tuple.rank()) +
                                               " modes, and no mode " + std::to_string(i));
  }
  return tuple.mode(i);
}

bool congruent(const IntTuple& a, const IntTuple& b) noexcept {
  return a.congruent_to(b);
}

IntTuple flatten(const IntTuple& tuple) {
  return layout::flattened(tuple);
}

IntTuple unflatten(const IntTuple& flat, const IntTuple& profile) {
  return layout::unflattened(flat, profile);
}

std::string to_string(const IntTuple& tuple) {
  return layout::nested_text(tuple);
}

IntTuple parse_int_tuple(std::string_view text) {
  layout::Reader reader(text);
  IntTuple tuple = layout::read_int_tuple(reader);
  reader.expect_end();
  return tuple;
}

}  // namespace tilejit
