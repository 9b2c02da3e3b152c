#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/coordinate_layout.hpp"

namespace tilejit::cli {

/// A coordinate as it is written: besides integers and `_` it may have CuTe's static integers,
/// `_16`, and symbols, as the number of a block is one.
struct WrittenCoordinate {
  struct Leaf {
    bool is_static = false;
    std::string symbol = {};  ///< empty for others
  };
  Coordinate value;          ///< with 0 in place of symbols
  std::vector<Leaf> leaves;  ///< as many as leaves of `value`

  [[nodiscard]] bool has_symbols() const;
  /// Throws UsageError, naming the operation, if there are symbols.
  [[nodiscard]] const Coordinate& numbers(std::string_view operation) const;
};

/// Throws Error{invalid_layout} with the position of the mistake.
[[nodiscard]] WrittenCoordinate parse_written_coordinate(std::string_view text);
[[nodiscard]] WrittenCoordinate written(Coordinate value);

/// Where a layout leads: an index, a sum with symbols such as `bidx%16*8192 + 40`, or a coordinate
/// of them.
struct Position {
  std::string text;
  std::optional<std::int64_t> number = {};
};
/// Whether no extent and no stride has a symbol.
[[nodiscard]] bool is_known(const Layout& layout);
/// Where `layout` leads from `coordinate`, in which `_` counts as 0. An integer coordinate has to
/// be inside of the layout, unless `open`.
enum class Domain { checked, open };
[[nodiscard]] Position position_at(const Layout& layout, const WrittenCoordinate& coordinate,
                                   Domain domain);
/// What slice gives, and where it starts.
struct WrittenSlice {
  Layout layout;
  Position offset;
};
[[nodiscard]] WrittenSlice slice_at(const WrittenCoordinate& coordinate, const Layout& layout);
/// The coordinate of each number, nested as `shape`; static integers stay so.
struct WrittenAnswer {
  std::string text;
  nlohmann::ordered_json json;
};
[[nodiscard]] WrittenAnswer coordinate_in(const WrittenCoordinate& index, const IntTuple& shape);

}  // namespace tilejit::cli
