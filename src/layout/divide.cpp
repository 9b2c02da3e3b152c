// Divisions and products of a layout on the left by a tiler on the right.
#include <algorithm>

#include "core/text.hpp"
#include "layout/modes.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

using Operation = Layout (*)(const Layout&, const Layout&);

/// What `make` returns. Errors name the operands first, since the modes that they mention may
/// belong to the complement.
template <typename Make>
Layout explained(const char* what, const Layout& a, const Layout& b, Make make) {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(error.code(), std::string(what) + " " + core::shortened(to_string(a)) + " by " +
                                  core::shortened(to_string(b)) + ": " + error.what());
  }
}

Layout divide(const Layout& a, const Layout& b) {
  return explained("dividing", a, b, [&] {
    const Layout rest = complement(b, coalesce(a).shape());
    return composition(a, make_layout({b, rest}), Exactness::as_cute);
  });
}

Layout product(const Layout& a, const Layout& b) {
  return explained("multiplying", a, b, [&] {
    const Layout rest = complement(a, size(a) * layout::cosize_of(b));
    return make_layout({a, composition(rest, b, Exactness::as_cute)});
  });
}

/// Applies `operation` by mode. Modes beyond the tiler, or with `_`, are unchanged.
Layout apply(Operation operation, const Layout& layout, const Tiler& tiler) {
  if (tiler.is_underscore()) return layout;
  if (const Layout* b = tiler.layout()) return operation(layout, *b);
  if (const std::int64_t* n = tiler.extent()) return operation(layout, column_major(*n));
  layout::check_rank("tiler", tiler.modes()->size(), layout);
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < rank(layout); ++i) {
    const Layout own = mode(layout, i);
    modes.push_back(i < tiler.modes()->size() ? apply(operation, own, (*tiler.modes())[i]) : own);
  }
  return make_layout(modes);
}

/// Gathers the pairs that `apply` makes at the leaves of the tiler, as (first ones, second ones).
Layout zip_pairs(const Layout& pairs, const Tiler& tiler) {
  if (tiler.is_underscore()) {
    throw Error(ErrorCode::invalid_layout,
                "'_' in the tiler has no tile to collect; give every mode one");
  }
  if (tiler.modes() == nullptr) return pairs;
  std::vector<Layout> first, second;
  for (std::size_t i = 0; i < rank(pairs); ++i) {
    const Layout own = mode(pairs, i);
    if (i >= tiler.modes()->size()) {
      second.push_back(own);
      continue;
    }
    const Layout zipped = zip_pairs(own, (*tiler.modes())[i]);
    first.push_back(mode(zipped, 0));
    second.push_back(mode(zipped, 1));
  }
  return make_layout({make_layout(first), make_layout(second)});
}

Layout zipped(Operation operation, const Layout& layout, const Tiler& tiler) {
  return zip_pairs(apply(operation, layout, tiler), tiler);
}

/// Appends the modes of `layout`. A layout of rank 1 is appended whole, as in CuTe.
void append_unpacked(std::vector<Layout>& modes, const Layout& layout) {
  if (rank(layout) == 1) {
    modes.push_back(layout);
    return;
  }
  for (std::size_t i = 0; i < rank(layout); ++i) modes.push_back(mode(layout, i));
}

Layout tiled(const Layout& pair) {
  std::vector<Layout> modes = {mode(pair, 0)};
  append_unpacked(modes, mode(pair, 1));
  return make_layout(modes);
}

Layout flat(const Layout& pair) {
  std::vector<Layout> modes;
  append_unpacked(modes, mode(pair, 0));
  append_unpacked(modes, mode(pair, 1));
  return make_layout(modes);
}

/// Appends modes 1:0 up to rank `wanted`. A leaf becomes a tuple if it gets any.
Layout padded(const Layout& layout, std::size_t wanted) {
  if (rank(layout) == wanted) return layout;
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < rank(layout); ++i) modes.push_back(mode(layout, i));
  modes.resize(wanted, Layout(1, 0));
  return make_layout(modes);
}

/// (block_i, tiler_i) for each mode.
Layout interleaved(const Layout& block, const Layout& tiler, bool raked) {
  const std::size_t wanted = std::max(rank(block), rank(tiler));
  const Layout pair = product(padded(block, wanted), padded(tiler, wanted));
  const Layout inside = mode(pair, 0), outside = mode(pair, 1);
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < wanted; ++i) {
    const Layout a = mode(inside, i);
    const Layout b = depth(inside) == 0 ? outside : mode(outside, i);  // as CuTe zips integers
    modes.push_back(raked ? make_layout({b, a}) : make_layout({a, b}));
  }
  return make_layout(modes);
}

}  // namespace

Layout logical_divide(const Layout& layout, const Tiler& tiler) {
  return apply(divide, layout, tiler);
}
Layout zipped_divide(const Layout& layout, const Tiler& tiler) {
  return zipped(divide, layout, tiler);
}
Layout tiled_divide(const Layout& layout, const Tiler& tiler) {
  return tiled(zipped_divide(layout, tiler));
}
Layout flat_divide(const Layout& layout, const Tiler& tiler) {
  return flat(zipped_divide(layout, tiler));
}

Layout logical_product(const Layout& layout, const Tiler& tiler) {
  return apply(product, layout, tiler);
}
Layout zipped_product(const Layout& layout, const Tiler& tiler) {
  return zipped(product, layout, tiler);
}
Layout tiled_product(const Layout& layout, const Tiler& tiler) {
  return tiled(zipped_product(layout, tiler));
}
Layout flat_product(const Layout& layout, const Tiler& tiler) {
  return flat(zipped_product(layout, tiler));
}

Layout blocked_product(const Layout& block, const Layout& tiler) {
  return interleaved(block, tiler, false);
}
Layout raked_product(const Layout& block, const Layout& tiler) {
  return interleaved(block, tiler, true);
}

}  // namespace tilejit
