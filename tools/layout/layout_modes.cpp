// Operations on the modes of a single layout: rows of the table of operations.
#include <fmt/format.h>

#include <algorithm>

#include "common/command.hpp"
#include "layout/layout_operations.hpp"

namespace tilejit::cli {
namespace {

IntTuple mode_of(const IntTuple& tuple, std::size_t i) {
  if (i < tuple.rank() && !tuple.is_leaf()) return tuple.mode(i);
  throw UsageError(fmt::format("{} has no mode {}", to_string(tuple), i));
}

Modes got(const Modes& modes, const IntTuple& path) {
  const std::vector<std::size_t> numbers = numbers_of(path);
  if (const auto* layout = std::get_if<Layout>(&modes.value)) return {get(*layout, numbers)};
  IntTuple part = std::get<IntTuple>(modes.value);
  for (const std::size_t i : numbers) part = mode_of(part, i);
  return {part};
}

Modes selected(const Modes& modes, const IntTuple& chosen) {
  const std::vector<std::size_t> numbers = numbers_of(chosen);
  if (const auto* layout = std::get_if<Layout>(&modes.value)) return {select(*layout, numbers)};
  auto result = IntTuple::empty_tuple();
  for (const std::size_t i : numbers) result.append(mode_of(std::get<IntTuple>(modes.value), i));
  return {result};
}

Layout concatenated(const Tiler& layouts) {
  if (layouts.modes() == nullptr) throw UsageError("concat takes a tuple, as in <3:1,4:3>");
  std::vector<Layout> modes;
  for (const Tiler& mode : *layouts.modes()) {
    if (mode.layout() == nullptr) throw UsageError("concat takes layouts alone, as in <3:1,4:3>");
    modes.push_back(*mode.layout());
  }
  return make_layout(modes);
}

Layout appended(const Layout& layout, std::int64_t rank, const Layout* x) {
  return append(layout, as_index(rank), x == nullptr ? Layout() : *x);
}

Layout prepended(const Layout& layout, std::int64_t rank, const Layout* x) {
  return prepend(layout, as_index(rank), x == nullptr ? Layout() : *x);
}

}  // namespace

std::vector<std::size_t> numbers_of(const IntTuple& tuple) {
  std::vector<std::size_t> result;
  for (const Dim& leaf : tuple.leaves()) {
    if (!leaf.is_known())
      throw UsageError(fmt::format("{} is not a known integer", to_string(leaf)));
    result.push_back(static_cast<std::size_t>(leaf.value()));
  }
  return result;
}

std::vector<Operation> mode_operations() {
  return {
      operation("get", {"layout", "path"}, "The mode at the end of a path, also of a tuple",
                {"(4,(3,6)):(1,(4,12))", "(1,0)"}, got),
      operation("select", {"layout", "modes"}, "A tuple of the modes chosen, also of a tuple's",
                {"(2,3,5,7):(1,2,6,30)", "(1,3)"}, selected),
      operation(
          "take", {"layout", "begin", "end"}, "A tuple of the modes BEGIN to END - 1",
          {"(2,3,5,7):(1,2,6,30)", "1", "3"},
          +[](const Layout& layout, std::int64_t begin, std::int64_t end) {
            return take(layout, as_index(begin), as_index(end));
          }),
      operation(
          "group", {"layout", "begin", "end"}, "The modes BEGIN to END - 1 become one",
          {"(2,3,5,7):(1,2,6,30)", "0", "2"},
          +[](const Layout& layout, std::int64_t begin, std::int64_t end) {
            return group(layout, as_index(begin), as_index(end));
          }),
      operation(
          "append", {"layout", "x"}, "With one more mode behind", {"3:1", "4:3"},
          +[](const Layout& layout, const Layout& x) { return append(layout, x); }),
      operation(
          "prepend", {"layout", "x"}, "With one more mode in front", {"3:1", "4:3"},
          +[](const Layout& layout, const Layout& x) { return prepend(layout, x); }),
      operation("append_rank", {"layout", "rank", "x"}, "With X (1:0) behind, up to a rank",
                {"3:1", "3"}, appended),
      operation("prepend_rank", {"layout", "rank", "x"}, "With X (1:0) in front, up to a rank",
                {"3:1", "3"}, prepended),
      operation(
          "replace", {"layout", "i", "x"}, "With X in place of mode I",
          {"(3,4):(1,3)", "1", "(2,2):(3,6)"},
          +[](const Layout& layout, std::int64_t i, const Layout& x) {
            return replace(layout, as_index(i), x);
          }),
      operation(
          "flatten", {"layout"}, "A tuple of all leaves", {"((2,3),5,7):((1,2),6,30)"},
          +[](const Layout& layout) { return flatten(layout); }),
      operation(
          "unflatten", {"layout", "profile"}, "Nested as the profile",
          {"(2,3,5,7):(1,2,6,30)", "((0,0),(0,0))"},
          +[](const Layout& layout, const IntTuple& profile) {
            return unflatten(layout, profile);
          }),
      operation("concat", {"layouts"}, "make_layout of several layouts", {"<3:1,4:3>"},
                concatenated),
  };
}

}  // namespace tilejit::cli
