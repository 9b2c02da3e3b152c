#include <algorithm>
#include <numeric>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/known_modes.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

using layout::ceil_div;
using layout::checked_multiply;
using layout::KnownMode;
using layout::KnownModes;

/// The modes by ascending strides; equal strides stay in order.
KnownModes by_stride(KnownModes modes) {
  std::stable_sort(modes.begin(), modes.end(),
                   [](const KnownMode& a, const KnownMode& b) { return a.stride < b.stride; });
  return modes;
}

/// ceil_div(cotarget, n) of CuTe: a tuple is divided leaf by leaf, each by what is left of n.
std::int64_t divided_size(const IntTuple& cotarget, std::int64_t n) {
  std::int64_t size = 1;
  for (const Dim& leaf : cotarget.leaves()) {
    if (!leaf.is_known() || leaf.is(0)) {
      throw Error(ErrorCode::unsupported,
                  "complement needs a known cotarget of at least 1, found " +
                      core::shortened(to_string(cotarget)));
    }
    size = checked_multiply(size, ceil_div(leaf.value(), n));
    n = ceil_div(n, leaf.value());
  }
  return size;
}

/// For each mode the product of the extents before it.
std::vector<std::int64_t> prefix_products(const KnownModes& modes) {
  std::vector<std::int64_t> products;
  std::int64_t product = 1;
  for (const KnownMode& mode : modes) {
    products.push_back(product);
    product = checked_multiply(product, mode.extent);
  }
  return products;
}

/// Numbers of the modes by ascending strides; equal strides stay in order.
std::vector<std::size_t> order_of(const KnownModes& modes) {
  std::vector<std::size_t> order(modes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return modes[i].stride; });
  return order;
}

}  // namespace

Layout complement(const Layout& layout, const IntTuple& cotarget) {
  const KnownModes reached = by_stride(layout::known_modes(filter(layout), "complement"));
  KnownModes result;
  std::int64_t current = 1;
  for (const KnownMode& mode : reached) {
    if (mode.stride == 0) continue;  // 1:0 alone
    const std::int64_t hole = mode.stride / current;
    if (hole == 0) {
      throw Error(ErrorCode::invalid_layout, "complement: modes of " +
                                                 core::shortened(to_string(layout)) +
                                                 " overlap; use an injective layout");
    }
    layout::append_coalesced(result, {hole, current});
    current = checked_multiply(mode.stride, mode.extent);
  }
  layout::append_coalesced(result, {divided_size(cotarget, current), current});
  return layout::flat_layout(result);
}

Layout complement(const Layout& layout) {
  return complement(layout, cosize(filter(layout)));
}

Layout right_inverse(const Layout& layout) {
  const KnownModes modes = layout::coalesced(layout::known_modes(layout, "right_inverse"));
  const std::vector<std::int64_t> before = prefix_products(modes);
  KnownModes result;
  std::int64_t next = 1;
  for (const std::size_t i : order_of(modes)) {
    if (modes[i].stride != next) continue;
    layout::append_coalesced(result, {modes[i].extent, before[i]});
    next = checked_multiply(next, modes[i].extent);
  }
  return layout::flat_layout(result);
}

Layout left_inverse(const Layout& layout) {
  const KnownModes modes = layout::coalesced(layout::known_modes(layout, "left_inverse"));
  const std::vector<std::int64_t> before = prefix_products(modes);
  KnownModes result;
  std::int64_t reached = 1, stride = 0, extent = 1;  // of the mode to come
  for (const std::size_t i : order_of(modes)) {
    if (modes[i].stride == 0) {
      extent = modes[i].extent;
      continue;
    }
    if (modes[i].stride % reached != 0) {
      throw Error(ErrorCode::invalid_layout,
                  "left_inverse: the stride " + std::to_string(modes[i].stride) + " of " +
                      core::shortened(to_string(layout)) + " is not a multiple of " +
                      std::to_string(reached) + ", what the smaller strides reach");
    }
    layout::append_coalesced(result, {modes[i].stride / reached, stride});
    reached = modes[i].stride;
    stride = before[i];
    extent = modes[i].extent;
  }
  layout::append_coalesced(result, {extent, stride});
  return layout::flat_layout(result);
}

}  // namespace tilejit
