#pragma once

#include <string>
#include <vector>

#include "core/text.hpp"
#include "layout/reader.hpp"
#include "tilejit/error.hpp"
#include "tilejit/nested.hpp"

namespace tilejit::layout {

/// The modes in order. A leaf is its own only mode.
template <typename Leaf>
[[nodiscard]] std::vector<Nested<Leaf>> modes_of(const Nested<Leaf>& nested) {
  std::vector<Nested<Leaf>> modes;
  modes.reserve(nested.rank());
  nested.for_each_mode([&](const Nested<Leaf>& mode) { modes.push_back(mode); });
  return modes;
}

/// A tuple of the leaves. A leaf stays a leaf.
template <typename Leaf>
[[nodiscard]] Nested<Leaf> flattened(const Nested<Leaf>& nested) {
  return nested.is_leaf() ? nested : Nested<Leaf>::flat(nested.leaves());
}

/// The next modes, nested as `profile`. Moves `next` past them.
template <typename Leaf, typename Other>
[[nodiscard]] Nested<Leaf> nested_as(const Nested<Other>& profile, const Nested<Leaf>*& next) {
  if (profile.is_leaf()) return *next++;
  auto result = Nested<Leaf>::empty_tuple();
  profile.for_each_mode(
      [&](const Nested<Other>& mode) { result.append(nested_as<Leaf>(mode, next)); });
  return result;
}

/// The modes of `flat`, nested as `profile`, which has the same number of leaves.
template <typename Leaf, typename Other>
[[nodiscard]] Nested<Leaf> unflattened(const Nested<Leaf>& flat, const Nested<Other>& profile) {
  if (flat.rank() != profile.leaves().size()) {
    throw Error(ErrorCode::invalid_layout, "unflatten: the profile has " +
                                               std::to_string(profile.leaves().size()) +
                                               " leaves for " + std::to_string(flat.rank()) +
                                               " modes; give every mode one leaf");
  }
  const std::vector<Nested<Leaf>> modes = modes_of(flat);
  const Nested<Leaf>* next = modes.data();
  return nested_as(profile, next);
}

/// CuTe's notation without spaces.
template <typename Leaf>
[[nodiscard]] std::string nested_text(const Nested<Leaf>& nested) {
  if (nested.is_leaf()) return to_string(nested.leaf());
  std::string text = "(";
  nested.for_each_mode([&](const Nested<Leaf>& mode) {
    if (text.size() > 1) text += ',';
    text += nested_text(mode);
  });
  return text + ')';
}

/// nested_text, shortened to fit a message.
template <typename Leaf>
[[nodiscard]] std::string short_text(const Nested<Leaf>& nested) {
  return core::shortened(nested_text(nested));
}

/// Reads a leaf by `read_leaf(reader)`, or a tuple, and leaves the cursor after it. `leaves` counts
/// the leaves so far; `what` names them in an error.
template <typename Leaf, typename ReadLeaf>
[[nodiscard]] Nested<Leaf> read_nested(Reader& reader, ReadLeaf read_leaf, const char* what,
                                       int& leaves, int nesting = 0) {
  constexpr int kMaxNesting = 64;
  constexpr int kMaxLeaves = 64;
  if (!reader.accept('(')) {
    if (leaves++ == kMaxLeaves) reader.fail("at most 64 " + std::string(what));
    return Leaf(read_leaf(reader));
  }
  if (nesting == kMaxNesting) reader.fail("at most 64 levels of nesting");
  auto tuple = Nested<Leaf>::empty_tuple();
  do {
    tuple.append(read_nested<Leaf>(reader, read_leaf, what, leaves, nesting + 1));
  } while (reader.accept(','));
  if (!reader.accept(')')) reader.fail("',' or ')'");
  return tuple;
}

}  // namespace tilejit::layout
