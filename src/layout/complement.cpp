#include <algorithm>
#include <numeric>

#include "core/text.hpp"
#include "layout/modes.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

using layout::Modes;

/// Throws if the order of the strides is not known.
void check_strides(const Modes& modes, const char* operation) {
  for (const Mode& mode : modes) {
    if (mode.stride.is_known()) continue;
    throw Error(ErrorCode::unsupported, std::string(operation) + " needs known strides to sort, " +
                                            "found the stride " + to_string(mode.stride));
  }
}

/// For each mode, the product of the extents before it.
SmallVector<Dim, 8> prefix_products(const Modes& modes) {
  SmallVector<Dim, 8> products;
  Dim product = 1;
  for (const Mode& mode : modes) {
    products.push_back(product);
    product = product * mode.extent;
  }
  return products;
}

/// Indices of the modes by ascending known strides. Equal strides keep their order.
SmallVector<std::size_t, 8> order_of(const Modes& modes) {
  SmallVector<std::size_t, 8> order;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    order.push_back(i);
    for (std::size_t k = i;
         k > 0 && modes[order[k]].stride.value() < modes[order[k - 1]].stride.value(); --k) {
      std::swap(order[k], order[k - 1]);
    }
  }
  return order;
}

/// The number of coordinates of stride `current` before the first step of `mode`, rounded down.
Dim hole_before(const Mode& mode, const Dim& current, const Layout& layout) {
  if (!mode.stride.is_known() || !current.is_known()) return exact_div(mode.stride, current);
  const std::int64_t hole = mode.stride.value() / current.value();
  if (hole != 0) return hole;
  throw Error(ErrorCode::invalid_layout, "complement: modes of " +
                                             core::shortened(to_string(layout)) +
                                             " overlap; use an injective layout");
}

/// Appends CuTe's ceil_div(cotarget, n) to `modes`: a tuple is divided leaf by leaf, each by the
/// rest of n, into modes of strides from n on. From an unknown extent on they form one mode.
void append_rest(Modes& modes, const IntTuple& cotarget, Dim n) {
  Dim stride = n;
  bool is_unknown = false;
  for (const Dim& leaf : cotarget.leaves()) {
    if (leaf.is(0)) {
      throw Error(ErrorCode::invalid_layout, "complement needs a cotarget of at least 1, found " +
                                                 core::shortened(to_string(cotarget)));
    }
    const Dim rest = ceil_div(leaf, n);
    if (is_unknown) {
      modes.back().extent = modes.back().extent * rest;
    } else {
      layout::append_coalesced(modes, {rest, stride});
      is_unknown = rest.is_unknown();
    }
    stride = stride * rest;
    n = ceil_div(n, leaf);
  }
}

}  // namespace

Dim layout::cosize_of(const Layout& layout) {
  const auto is_known = [](const Mode& mode) {
    return mode.extent.is_known() && mode.stride.is_known();
  };
  if (std::ranges::all_of(layout.leaves(), is_known)) return cosize(layout);
  const Dim all = size(layout);
  return size(right_inverse(layout)).same_value(all) ? all : Dim::unknown();
}

Layout complement(const Layout& layout, const IntTuple& cotarget) {
  layout::check_extents(layout, "complement");
  layout::refuse_coordinates(layout, "complement");
  const Modes reached = layout::coalesced(filter_zeros(layout).leaves());
  if (reached.size() > 1) check_strides(reached, "complement");
  Modes result;
  Dim current = 1;
  for (const std::size_t i : order_of(reached)) {
    layout::append_coalesced(result, {hole_before(reached[i], current, layout), current});
    current = reached[i].stride * reached[i].extent;
  }
  append_rest(result, cotarget, current);
  return layout::flat_layout(result);
}

Layout complement(const Layout& layout) {
  return complement(layout, layout::cosize_of(filter(layout)));
}

Layout right_inverse(const Layout& layout) {
  layout::check_extents(layout, "right_inverse");
  layout::refuse_coordinates(layout, "right_inverse");
  const Modes modes = layout::coalesced(layout.leaves());
  const auto before = prefix_products(modes);
  const auto continuing = [&](const Dim& stride) {
    return std::ranges::find_if(modes,
                                [&](const Mode& mode) { return mode.stride.same_value(stride); });
  };
  Modes result;
  for (auto mode = continuing(1); mode != modes.end();
       mode = continuing(mode->stride * mode->extent)) {
    layout::append_coalesced(
        result, {mode->extent, before[static_cast<std::size_t>(mode - modes.begin())]});
  }
  return layout::flat_layout(result);
}

Layout left_inverse(const Layout& layout) {
  layout::check_extents(layout, "left_inverse");
  layout::refuse_coordinates(layout, "left_inverse");
  const Modes modes = layout::coalesced(layout.leaves());
  check_strides(modes, "left_inverse");
  const auto before = prefix_products(modes);
  Modes result;
  Dim reached = 1, stride = 0, extent = 1;  // of the next mode
  for (const std::size_t i : order_of(modes)) {
    if (modes[i].stride.is(0)) {
      extent = modes[i].extent;
      continue;
    }
    const auto step = Dim::divide(modes[i].stride, reached);
    if (!step) {
      throw Error(ErrorCode::invalid_layout,
                  "left_inverse: the stride " + to_string(modes[i].stride) + " of " +
                      core::shortened(to_string(layout)) + " is not a multiple of " +
                      to_string(reached) + ", what the smaller strides reach");
    }
    layout::append_coalesced(result, {*step, stride});
    reached = modes[i].stride;
    stride = before[i];
    extent = modes[i].extent;
  }
  layout::append_coalesced(result, {extent, stride});
  return layout::flat_layout(result);
}

}  // namespace tilejit
