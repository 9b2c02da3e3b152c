#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/code.hpp"

namespace tilejit::program {

/// The values of a tile, row-major: integers and bool in `integers`, others in `reals`.
struct TileData {
  TileType type = {};
  std::vector<double> reals = {};
  std::vector<std::int64_t> integers = {};

  TileData() = default;
  /// All elements 0.
  explicit TileData(TileType type);
  [[nodiscard]] bool is_real() const noexcept { return is_floating(type.dtype); }
  [[nodiscard]] std::size_t size() const noexcept {
    return is_real() ? reals.size() : integers.size();
  }
};

/// The element `from` of `source`, as element `to` of `target`, which has its dtype.
inline void copy_element(const TileData& source, std::size_t from, TileData& target,
                         std::size_t to) {
  if (target.is_real()) {
    target.reals[to] = source.reals[from];
  } else {
    target.integers[to] = source.integers[from];
  }
}

/// `source` converted to `dtype` as a cast does, rounded once.
[[nodiscard]] TileData converted(TileData source, DType dtype);
/// `source`, which broadcasts to `shape`, with all its elements.
[[nodiscard]] TileData expanded(const TileData& source, const Extents& shape);
/// For each element of `shape`, row-major, the element of a tile of shape `own`, which broadcasts
/// to it.
[[nodiscard]] std::vector<std::size_t> broadcast_places(const Extents& own, const Extents& shape);

/// "[[1, 2], [3, 4]]" for people; at most 8 elements of each axis.
[[nodiscard]] std::string to_string(const TileData& data);
[[nodiscard]] std::string element_text(const TileData& data, std::size_t i);

}  // namespace tilejit::program
