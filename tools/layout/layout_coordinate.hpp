#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/coordinate_layout.hpp"

namespace tilejit::cli {

/// A coordinate as a person writes it. Its leaves are integers, `_`, CuTe's static integers such as
/// `_16`, and symbols such as the number of a block.
struct WrittenCoordinate {
  struct Leaf {
    bool is_static = false;
    std::string symbol = {};  ///< empty if the leaf is not a symbol
  };
  Coordinate value;          ///< with 0 in place of symbols
  std::vector<Leaf> leaves;  ///< one per leaf of `value`

  [[nodiscard]] bool has_symbols() const;
  /// Throws UsageError, naming the operation, if there are symbols.
  [[nodiscard]] const Coordinate& numbers(std::string_view operation) const;
};

/// Throws Error{invalid_layout} with the position of the mistake.
[[nodiscard]] WrittenCoordinate parse_written_coordinate(std::string_view text);
[[nodiscard]] WrittenCoordinate written(Coordinate value);

/// Where a layout leads: an index, a sum with symbols such as `bidx%16*8192 + 40`, or a coordinate
/// whose elements are such sums.
struct Position {
  std::string text;
  std::optional<std::int64_t> number = {};
};
/// Whether all extents and strides are free of symbols.
[[nodiscard]] bool is_known(const Layout& layout);
/// Where `layout` leads from `coordinate`, in which `_` counts as 0. An integer coordinate must lie
/// inside the layout, unless the domain is `open`.
enum class Domain { checked, open };
[[nodiscard]] Position position_at(const Layout& layout, const WrittenCoordinate& coordinate,
                                   Domain domain);
/// The result of a slice, and where it starts.
struct WrittenSlice {
  Layout layout;
  Position offset;
};
[[nodiscard]] WrittenSlice slice_at(const WrittenCoordinate& coordinate, const Layout& layout);
/// The coordinate in `shape` of each number of `index`, nested as `shape`. Static integers stay
/// static.
struct WrittenAnswer {
  std::string text;
  nlohmann::ordered_json json;
};
[[nodiscard]] WrittenAnswer coordinate_in(const WrittenCoordinate& index, const IntTuple& shape);

}  // namespace tilejit::cli
