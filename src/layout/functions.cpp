// Queries and functions built on the layout algebra.
#include <numeric>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/modes.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {
namespace {

using LeafRule = Layout (*)(const Layout& layout, const Dim& leaf_of_profile);

/// Applies `rule` at each leaf of the profile.
Layout at_leaves(LeafRule rule, const Layout& layout, const IntTuple& profile) {
  if (profile.is_leaf()) return rule(layout, profile.leaf());
  layout::check_rank("profile", rank(profile), layout);
  auto result = Nested<Mode>::empty_tuple();
  for (std::size_t i = 0; i < rank(layout); ++i) {
    const Layout own = mode(layout, i);
    const bool is_named = i < rank(profile);
    result.append((is_named ? at_leaves(rule, own, profile.mode(i)) : own).modes());
  }
  return result;
}

/// The part of `a` that is contiguous in the order of `inverse_of_b`; 1:0 if the order does not
/// begin so.
Layout common_in_order(const Layout& a, const Layout& inverse_of_b) {
  const Layout first = mode(coalesce(composition(a, inverse_of_b, Exactness::as_cute)), 0);
  return first.leaves()[0].stride.is(1) ? first : Layout(1, 0);
}

}  // namespace

Layout coalesce(const Layout& layout, const IntTuple& profile) {
  const LeafRule rule = [](const Layout& own, const Dim&) { return coalesce(own); };
  return at_leaves(rule, layout, profile);
}

Layout filter_zeros(const Layout& layout, const IntTuple& profile) {
  const LeafRule rule = [](const Layout& own, const Dim& flag) -> Layout {
    if (!flag.is(0)) return own;
    return own.modes().map([](const Mode& leaf) { return Mode{1, leaf.stride}; });
  };
  return at_leaves(rule, layout, profile);
}

Layout filter(const Layout& layout, const IntTuple& profile) {
  const LeafRule rule = [](const Layout& own, const Dim&) { return filter(own); };
  return at_leaves(rule, layout, profile);
}

Layout nullspace(const Layout& layout) {
  std::vector<Mode> zeros;
  Dim next = 1;
  for (const Mode& leaf : layout.leaves()) {
    if (leaf.stride.is(0)) zeros.push_back({leaf.extent, leaf.extent.is(1) ? Dim(0) : next});
    next = next * leaf.extent;
  }
  return layout::flat_layout(zeros);
}

Layout max_common_layout(const Layout& a, const Layout& b) {
  const Layout inverse = right_inverse(b);
  return composition(inverse, common_in_order(a, inverse), Exactness::as_cute);
}

Dim max_common_vector(const Layout& a, const Layout& b) {
  return size(common_in_order(a, right_inverse(b)));
}

std::int64_t max_alignment(const Layout& layout) {
  const Layout flat = coalesce(layout);
  const Layout permuted = logical_divide(flat, right_inverse(flat));
  std::int64_t alignment = size(mode(permuted, 0)).factor();
  const Layout vectors = mode(permuted, 1);
  for (const Mode& leaf : vectors.leaves()) {
    alignment = std::gcd(alignment, leaf.stride.factor());
  }
  return alignment;
}

Layout domain_distribute(const IntTuple& shape, std::int64_t n) {
  if (n < 1) {
    throw Error(ErrorCode::invalid_argument,
                "domain_distribute: at least 1 element, found " + std::to_string(n));
  }
  std::vector<Mode> modes;
  std::int64_t next = 1;
  for (const Dim& extent : shape.leaves()) {
    if (!extent.is_known() || extent.is(0)) {
      throw Error(ErrorCode::unsupported,
                  "domain_distribute needs known extents of at least 1, found " +
                      core::shortened(to_string(shape)));
    }
    const std::int64_t taken = std::gcd(extent.value(), n);
    modes.push_back({taken, next});
    n /= taken;
    next = layout::checked_multiply(next, extent.value());
  }
  return coalesce(layout::flat_layout(modes));
}

}  // namespace tilejit
