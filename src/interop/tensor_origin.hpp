#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilejit/coordinate_layout.hpp"

// How far layouts lead: from the origin of a tensor of coordinates, and at least by which multiple.

namespace tilejit::interop {

using Paths = std::vector<std::vector<std::size_t>>;

/// The path of each leaf, outermost mode first, in the order of the leaves.
[[nodiscard]] Paths leaf_paths(const Coordinate& coordinate);

/// The steps of `layout` along `path`, as a layout of distances; 0 where it leads elsewhere. With
/// an empty path the layout itself.
[[nodiscard]] Layout along(const Layout& layout, const std::vector<std::size_t>& path);

/// `origin` and the steps that `layout`, whose strides lead to leaves of `origin`, takes to
/// `coordinate`. Throws as Layout::operator().
[[nodiscard]] Coordinate moved(const Coordinate& origin, const Layout& layout,
                               const Coordinate& coordinate);

/// A divisor of layout(at) for every value of the symbols: the greatest that is certain. 0: that
/// index is 0.
[[nodiscard]] std::int64_t divisor(const Layout& layout, const Dim& at);

}  // namespace tilejit::interop
