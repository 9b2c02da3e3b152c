#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tilejit/indexing.hpp"

namespace tilejit {

// Layouts of coordinates, as CuTe's identity tensors have them: a stride such as `4@1` is 4 steps
// along mode 1 of a coordinate. If modes are nested, the innermost comes first: `1@0@1` is a step
// along mode 0 of mode 1. Such layouts are written, coalesced, composed, divided, sliced and taken
// apart like any other. Operations that need the order of strides (complement, inverses) refuse
// them with Error{unsupported}, and so do specs: memory has integer strides. All functions are pure
// and thread-safe.

/// Steps of a coordinate, along the mode to which `path` leads, outermost first.
struct CoordinateStep {
  Dim steps = 1;
  std::vector<std::size_t> path = {};
  bool operator==(const CoordinateStep&) const = default;
};

/// `4@0@1` of {4, {1, 0}}. Throws Error{invalid_layout} if `path` is empty, has more than 8 modes
/// or one beyond 1023.
[[nodiscard]] Dim coordinate_stride(const CoordinateStep& step);
/// The inverse of coordinate_stride; empty for a stride in memory.
[[nodiscard]] std::optional<CoordinateStep> coordinate_step(const Dim& stride);
/// True if a stride is a step of a coordinate.
[[nodiscard]] bool has_coordinate_strides(const Layout& layout);

/// Maps each coordinate to itself: (4,(2,3)):(1@0,(1@0@1,1@1@1)), or 4:1@0 for an integer.
[[nodiscard]] Layout coordinate_layout(const IntTuple& shape);
/// The coordinate that the layout gives at `coordinate`, nested as its strides say, with 0 in modes
/// to which none leads. Throws as Layout::operator() does, and Error{invalid_layout} if a stride is
/// a number other than 0, or leads to a mode that others lead into.
[[nodiscard]] Coordinate coordinate_at(const Layout& layout, const Coordinate& coordinate);

}  // namespace tilejit
