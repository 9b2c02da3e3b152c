#pragma once

#include <cstdint>
#include <vector>

namespace tilejit::formula {

/// A mode of known numbers: `extent` coordinates (at least 2), `stride` elements apart (at least
/// 1).
struct KnownMode {
  std::int64_t extent = 2;
  std::int64_t stride = 1;
};

enum class Overlap : std::uint8_t { none, found, unknown };

/// Whether two coordinates of a layout of `modes` have the same index. The product of the extents
/// is below 2^63. Exact, except that the result is `unknown` if large modes interleave in a way
/// that a short search does not settle.
[[nodiscard]] Overlap find_overlap(std::vector<KnownMode> modes);

}  // namespace tilejit::formula
