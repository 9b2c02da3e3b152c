#include <algorithm>

#include "layout/nested_modes.hpp"
#include "tilejit/int_tuple.hpp"

namespace tilejit {
namespace {

/// True if `holds` for each pair of modes that both tuples have.
template <typename Holds>
bool all_modes(const IntTuple& a, const IntTuple& b, Holds holds) {
  const std::vector<IntTuple> left = layout::modes_of(a), right = layout::modes_of(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (!holds(left[i], right[i])) return false;
  }
  return true;
}

void refuse_unlike(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf() == b.is_leaf()) return;
  throw Error(ErrorCode::invalid_layout, "an integer and a tuple have no order, found " +
                                             layout::short_text(a) + " and " +
                                             layout::short_text(b));
}

std::strong_ordering compare_leaves(const Dim& a, const Dim& b) {
  if (a.same_value(b)) return std::strong_ordering::equal;
  if (a.is_known() && b.is_known()) return a.value() <=> b.value();
  throw Error(ErrorCode::unsupported, core::shortened(to_string(a)) + " and " +
                                          core::shortened(to_string(b)) +
                                          " have no certain order; fill in their symbols");
}

/// Compares from the first mode on, or from the last.
std::strong_ordering compare(const IntTuple& a, const IntTuple& b, bool from_last) {
  refuse_unlike(a, b);
  if (a.is_leaf()) return compare_leaves(a.leaf(), b.leaf());
  const std::vector<IntTuple> left = layout::modes_of(a), right = layout::modes_of(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    const IntTuple& x = from_last ? left[left.size() - 1 - i] : left[i];
    const IntTuple& y = from_last ? right[right.size() - 1 - i] : right[i];
    if (const auto order = compare(x, y, from_last); order != 0) return order;
  }
  return left.size() <=> right.size();
}

}  // namespace

bool weakly_congruent(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf()) return true;
  return !b.is_leaf() && a.rank() == b.rank() && all_modes(a, b, weakly_congruent);
}

bool compatible(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf()) return a.leaf().same_value(product(b));
  return !b.is_leaf() && a.rank() == b.rank() && all_modes(a, b, compatible);
}

bool lex_less(const IntTuple& a, const IntTuple& b) {
  return compare(a, b, false) < 0;
}

bool colex_less(const IntTuple& a, const IntTuple& b) {
  return compare(a, b, true) < 0;
}

bool elem_less(const IntTuple& a, const IntTuple& b) {
  refuse_unlike(a, b);
  if (a.is_leaf()) return compare_leaves(a.leaf(), b.leaf()) < 0;
  return a.rank() <= b.rank() && all_modes(a, b, elem_less);
}

}  // namespace tilejit
