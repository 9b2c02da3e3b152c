#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilejit/layout.hpp"

namespace tilejit::interop {

/// Row-major strides without gaps: the last mode has stride 1. Throws Error{invalid_argument} for a
/// negative extent or more than 2^63-1 elements.
[[nodiscard]] std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape);
/// Writes the same to `strides`, which is as long as `shape`.
void fill_compact_strides(std::span<const std::int64_t> shape, std::span<std::int64_t> strides);

/// The number of elements from the first to the last, both included; 0 for an empty tensor. Throws
/// Error{invalid_argument} unless there is one stride per extent, for a negative number, and beyond
/// 2^63-1.
[[nodiscard]] std::int64_t span_elements(std::span<const std::int64_t> shape,
                                         std::span<const std::int64_t> strides);

/// A layout with one leaf per extent; extents of 1 get stride 0. An empty shape gives 1:0.
[[nodiscard]] Layout flat_layout(std::span<const std::int64_t> shape,
                                 std::span<const std::int64_t> strides);

}  // namespace tilejit::interop
