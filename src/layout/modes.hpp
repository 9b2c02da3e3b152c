#pragma once

#include <cstdint>
#include <span>

#include "tilejit/layout.hpp"

namespace tilejit::layout {

using Modes = SmallVector<Mode, 8>;

/// Throws Error{invalid_layout}, naming `operation`, if an extent is 0.
void check_extents(const Layout& layout, const char* operation);
/// Throws Error{unsupported}, naming `operation`, if a stride is a coordinate step.
void refuse_coordinates(const Layout& layout, const char* operation);
/// A flat layout of `modes`. No modes give 1:0; a single mode gives no tuple.
[[nodiscard]] Layout flat_layout(std::span<const Mode> modes);
/// True if coordinates continue from `a` to `b` in equal steps for all values of the symbols. As in
/// CuTe, an unknown extent is never part of a merged one.
[[nodiscard]] bool continues(const Mode& a, const Mode& b);
/// Appends a mode to `modes`, or merges it with the last one if it certainly continues that.
void append_coalesced(Modes& modes, const Mode& next);
/// The modes of coalesce(layout); none for a layout of size 1.
[[nodiscard]] Modes coalesced(std::span<const Mode> modes);
/// The cosize; '?' if it is unknown and is not the size.
[[nodiscard]] Dim cosize_of(const Layout& layout);

/// Throws Error{invalid_layout} if a profile or tiler, `what`, has more modes than the layout.
void check_rank(const char* what, std::size_t modes, const Layout& layout);

}  // namespace tilejit::layout
