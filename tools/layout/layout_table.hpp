#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "layout/layout_picture.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::cli {

/// The rows or the columns of a table.
struct TableSide {
  std::vector<std::int64_t> extents;  ///< extents of the nested modes, the fastest first
  std::int64_t block = 1;             ///< table rows that one row of the picture stands for

  [[nodiscard]] std::int64_t count() const;  ///< rows of the picture, in blocks
};

using CellAt = std::function<Cell(std::int64_t row, std::int64_t column)>;

/// A table to be drawn.
struct Table {
  std::string title;
  std::string note = {};
  std::vector<LegendEntry> legend = {};
  TableSide rows, columns;
  std::size_t width = 1;  ///< of a cell's text, at least, in characters
  CellAt cell_at;
};

/// The side of one mode, and the side that has only one row.
[[nodiscard]] TableSide side_of(const IntTuple& extents);
[[nodiscard]] TableSide side_of_one();

/// Throws UsageError if the table has no cell.
void check_cells(const Table& table);
/// The table reduced to fit a page. If it has more rows or columns than a page, neighbouring cells
/// are joined if they share a colour and their numbers are consecutive, as the values of a thread
/// are.
[[nodiscard]] Table joined(const Table& table);

/// How much of a large table is drawn.
enum class Shown : std::uint8_t {
  page,  ///< over 40 rows or 32 columns: the first 12 and the last 12
  most,  ///< over 16384 cells: the first 16 and the last 16 of each side; else all
};
[[nodiscard]] Picture make_picture(const Table& table, Shown shown);

}  // namespace tilejit::cli
