#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilejit/layout.hpp"

namespace tilejit::interop {

/// Row-major strides without gaps: the last mode has stride 1. Throws Error{invalid_argument} for a
/// negative extent and beyond 2^63-1 elements.
[[nodiscard]] std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape);
/// Into `strides`, as many as `shape`.
void fill_compact_strides(std::span<const std::int64_t> shape, std::span<std::int64_t> strides);

/// Elements from the first to the last, both counted; 0 for an empty tensor. Throws
/// Error{invalid_argument} if there is not one stride an extent, for a negative number, and beyond
/// 2^63-1.
[[nodiscard]] std::int64_t span_elements(std::span<const std::int64_t> shape,
                                         std::span<const std::int64_t> strides);

/// One leaf an extent, with stride 0 where that is 1; 1:0 without any.
[[nodiscard]] Layout flat_layout(std::span<const std::int64_t> shape,
                                 std::span<const std::int64_t> strides);

}  // namespace tilejit::interop
