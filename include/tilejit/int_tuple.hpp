#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilejit/dim.hpp"

namespace tilejit {

/// CuTe's IntTuple: one integer (here a `Dim`, known or symbolic), or a tuple of IntTuples.
/// `4` and `(4)` differ: both have rank 1, but depth 0 and 1. A value type.
class IntTuple {
 public:
  IntTuple() = default;                               ///< the integer 1
  IntTuple(Dim leaf) : leaf_(std::move(leaf)) {}      // NOLINT: a leaf is an int tuple
  IntTuple(std::integral auto leaf) : leaf_(leaf) {}  // NOLINT
  IntTuple(const char* symbol) : leaf_(symbol) {}     // NOLINT
  IntTuple(std::initializer_list<IntTuple> modes) : modes_(modes), is_leaf_(false) {}
  /// A tuple of `modes`, also when there is only one or none.
  [[nodiscard]] static IntTuple tuple(std::vector<IntTuple> modes);

  [[nodiscard]] bool is_leaf() const noexcept { return is_leaf_; }
  [[nodiscard]] const Dim& leaf() const { return leaf_; }  ///< meaningful when is_leaf()
  /// The modes of a tuple; empty for a leaf.
  [[nodiscard]] const std::vector<IntTuple>& modes() const noexcept { return modes_; }

  bool operator==(const IntTuple&) const = default;

 private:
  Dim leaf_;
  std::vector<IntTuple> modes_;
  bool is_leaf_ = true;
};

[[nodiscard]] std::size_t rank(const IntTuple& tuple) noexcept;   ///< 1 for a leaf
[[nodiscard]] std::size_t depth(const IntTuple& tuple) noexcept;  ///< 0 for a leaf
/// The product of all leaves. Throws Error{unsupported} on overflow or beyond 8 symbols.
[[nodiscard]] Dim product(const IntTuple& tuple);
/// The i-th mode; mode 0 of a leaf is the leaf.
[[nodiscard]] const IntTuple& mode(const IntTuple& tuple, std::size_t i);
/// All leaves in order.
[[nodiscard]] std::vector<Dim> flatten(const IntTuple& tuple);
/// Same nesting, whatever the integers are.
[[nodiscard]] bool congruent(const IntTuple& a, const IntTuple& b) noexcept;

/// CuTe's notation without spaces: "(8,(4,2))".
[[nodiscard]] std::string to_string(const IntTuple& tuple);
/// Throws Error{invalid_layout} with the position of the mistake. Spaces are allowed; a text has at
/// most 64 levels of nesting and 64 leaves, its integers are at most 2^63-1.
[[nodiscard]] IntTuple parse_int_tuple(std::string_view text);

}  // namespace tilejit
