#pragma once

#include <cstdint>

#include "tilejit/layout.hpp"

namespace tilejit::layout {

struct KnownMode {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};
using KnownModes = SmallVector<KnownMode, 8>;

/// The leaves. Throws Error{unsupported} for a layout with a symbol or '?', and naming `operation`.
[[nodiscard]] KnownModes known_modes(const Layout& layout, const char* operation);
/// A flat layout of them: 1:0 for none, no tuple for one.
[[nodiscard]] Layout flat_layout(const KnownModes& modes);
/// Adds a mode behind `modes`, merged with the last one if it continues that.
void append_coalesced(KnownModes& modes, KnownMode next);
/// Of coalesce(layout).
[[nodiscard]] KnownModes coalesced(const KnownModes& modes);

/// A tuple of these layouts.
[[nodiscard]] Layout tuple_of(std::span<const Layout> modes);
[[nodiscard]] std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept;

}  // namespace tilejit::layout
