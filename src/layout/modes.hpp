#pragma once

#include <cstdint>
#include <span>

#include "tilejit/layout.hpp"

namespace tilejit::layout {

using Modes = SmallVector<Mode, 8>;

/// Throws Error{invalid_layout}, naming `operation`, if an extent is 0.
void check_extents(const Layout& layout, const char* operation);
/// Throws Error{unsupported}, naming `operation`, if a stride is a step of a coordinate.
void refuse_coordinates(const Layout& layout, const char* operation);
/// A flat layout of them: 1:0 for none, no tuple for one.
[[nodiscard]] Layout flat_layout(std::span<const Mode> modes);
/// True if coordinates go on from `a` to `b` in equal steps, whatever the symbols are. As in CuTe,
/// an unknown extent is no part of a merged one.
[[nodiscard]] bool continues(const Mode& a, const Mode& b);
/// Adds a mode behind `modes`, merged with the last one if it certainly continues that.
void append_coalesced(Modes& modes, const Mode& next);
/// The modes of coalesce(layout); none for a layout of size 1.
[[nodiscard]] Modes coalesced(std::span<const Mode> modes);
/// The cosize; '?' where that is neither known nor the size.
[[nodiscard]] Dim cosize_of(const Layout& layout);

/// Throws Error{invalid_layout} if a profile or tiler, `what`, has more modes than the layout.
void check_rank(const char* what, std::size_t modes, const Layout& layout);

}  // namespace tilejit::layout
