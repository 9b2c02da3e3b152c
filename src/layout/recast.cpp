// Layouts for wider and narrower elements.
#include <algorithm>
#include <numeric>

#include "core/text.hpp"
#include "layout/modes.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {
namespace {

void check_positive(const char* operation, std::int64_t n) {
  if (n >= 1) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(operation) + " by a factor of at least 1, found " + std::to_string(n));
}

Mode upcast_leaf(const Mode& leaf, std::int64_t n) {
  if (leaf.stride.is(0)) return leaf;
  if (const auto stride = Dim::divide(leaf.stride, n)) return {leaf.extent, *stride};
  if (!leaf.stride.is_known()) {
    throw Error(ErrorCode::unsupported, "upcast by " + std::to_string(n) +
                                            " needs strides that are known multiples of it, " +
                                            "found " + core::shortened(to_string(leaf.stride)));
  }
  const std::int64_t stride = leaf.stride.value();
  if (n % stride != 0) {
    throw Error(ErrorCode::invalid_layout, "upcast: the stride " + std::to_string(stride) +
                                               " and the factor " + std::to_string(n) +
                                               " do not divide");
  }
  return {ceil_div(leaf.extent, n / stride), 1};
}

}  // namespace

Layout upcast(const Layout& layout, std::int64_t n) {
  check_positive("upcast", n);
  layout::refuse_coordinates(layout, "upcast");
  return layout.modes().map([n](const Mode& leaf) { return upcast_leaf(leaf, n); });
}

Layout downcast(const Layout& layout, std::int64_t n) {
  check_positive("downcast", n);
  const auto is_one = [](const Mode& leaf) { return leaf.stride.is(1); };
  if (std::ranges::none_of(layout.leaves(), is_one)) {
    throw Error(ErrorCode::invalid_layout,
                "downcast needs a stride of 1, found " + core::shortened(to_string(layout)));
  }
  return layout.modes().map([&](const Mode& leaf) {
    return is_one(leaf) ? Mode{leaf.extent * n, 1} : Mode{leaf.extent, leaf.stride * n};
  });
}

Layout recast_layout(const Layout& layout, std::int64_t old_bits, std::int64_t new_bits) {
  check_positive("recast_layout", old_bits);
  check_positive("recast_layout", new_bits);
  const std::int64_t common = std::gcd(old_bits, new_bits);
  const std::int64_t up = new_bits / common, down = old_bits / common;
  const Layout wide = up == 1 ? layout : upcast(layout, up);
  return down == 1 ? wide : downcast(wide, down);
}

}  // namespace tilejit
