#include "layout/evaluate.hpp"

#include "core/text.hpp"
#include "layout/checked.hpp"

namespace tilejit::layout {

std::int64_t index_at(const Layout& layout, std::int64_t i) {
  std::int64_t index = 0;
  const std::span<const Mode> leaves = layout.leaves();
  for (const Mode& leaf : leaves) {
    if (!leaf.extent.is_known() || !leaf.stride.is_known() || leaf.extent.is(0)) {
      throw Error(ErrorCode::unsupported,
                  "an index needs known strides and known extents of at least 1, found " +
                      core::shortened(to_string(layout)));
    }
    const std::int64_t extent = leaf.extent.value();
    const std::int64_t coordinate = &leaf == &leaves.back() ? i : i % extent;
    index = checked_add(index, checked_multiply(coordinate, leaf.stride.value()));
    i /= extent;
  }
  return index;
}

}  // namespace tilejit::layout
