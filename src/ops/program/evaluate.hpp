#pragma once

#include <functional>
#include <vector>

#include "program/code.hpp"
#include "program/tile_data.hpp"

namespace tilejit::program {

/// The values of a typed expression over its space: in double, integers exactly. Floating values
/// are not rounded to their dtypes, except by casts to narrow ones.
class Evaluation {
 public:
  using Tile = std::function<const TileData&(int slot)>;
  using Scalar = std::function<TileData(int slot)>;

  /// Keeps views of its arguments.
  Evaluation(const Value& value, const std::vector<TileSlot>& slots, const Tile& tile,
             const Scalar& scalar)
      : value_(value), slots_(slots), tile_(tile), scalar_(scalar) {}

  /// The value of the expression, of the shape that shapes_of says.
  [[nodiscard]] TileData run();
  /// Operations on elements that `run` did.
  [[nodiscard]] std::int64_t operations() const noexcept { return operations_; }

 private:
  [[nodiscard]] TileData node_value(const expr::Node& node, const Extents& shape);
  [[nodiscard]] TileData elementwise(const expr::Node& node, const Extents& shape);
  [[nodiscard]] TileData index(const expr::Node& node, const Extents& shape) const;
  [[nodiscard]] TileData reduced(const expr::Node& node, const Extents& shape);
  [[nodiscard]] TileData scanned(const expr::Node& node, const Extents& shape);
  [[nodiscard]] const TileData& argument(const expr::Node& node, std::size_t i) const;

  const Value& value_;
  const std::vector<TileSlot>& slots_;
  const Tile& tile_;
  const Scalar& scalar_;
  std::vector<TileData> values_;
  std::int64_t operations_ = 0;
};

}  // namespace tilejit::program
