#include "layout/layout_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/command.hpp"

namespace tilejit::cli {
namespace {

constexpr std::int64_t kEdge = 16;      // of a large table: rows or columns shown at each end
constexpr std::int64_t kPageEdge = 12;  // the same, for a picture on a page
constexpr std::int64_t kPageRows = 40;
constexpr std::int64_t kPageColumns = 32;
constexpr std::int64_t kMostCells = 16384;
constexpr std::int64_t kMostJoined = std::int64_t{1} << 18;  // cells that are examined
constexpr std::int64_t kGap = -1;
constexpr const char* kDots = "...";

// All numbers below `count`; or the first `edge`, a gap, and the last `edge`.
std::vector<std::int64_t> numbers_of(std::int64_t count, std::int64_t edge) {
  std::vector<std::int64_t> numbers;
  const std::int64_t head = count <= 2 * edge ? count : edge;
  for (std::int64_t i = 0; i < head; ++i) numbers.push_back(i);
  if (head == count) return numbers;
  numbers.push_back(kGap);
  for (std::int64_t i = count - edge; i < count; ++i) numbers.push_back(i);
  return numbers;
}

std::string label_of(const TableSide& side, std::int64_t number) {
  if (number == kGap) return kDots;
  const std::int64_t first = number * side.block;
  return side.block == 1 ? std::to_string(first)
                         : fmt::format("{}-{}", first, first + side.block - 1);
}

/// How many modes, counted from the fastest, start anew at `number`.
int mark_of(const TableSide& side, std::int64_t number) {
  if (number == kGap) return 0;
  int mark = 0;
  std::int64_t period = 1;
  for (std::size_t i = 0; i + 1 < side.extents.size(); ++i) {
    period *= side.extents[i];
    if (number % period == 0) mark = static_cast<int>(i) + 1;
  }
  return mark;
}

PictureSide picture_side(const TableSide& side, const std::vector<std::int64_t>& numbers) {
  PictureSide result;
  const bool nested = side.extents.size() > 1 && side.block == 1;
  result.coordinates.resize(nested ? side.extents.size() : 0);
  for (const std::int64_t number : numbers) {
    result.labels.push_back(label_of(side, number));
    result.marks.push_back(mark_of(side, number));
    std::int64_t rest = number;
    for (std::size_t i = 0; i < result.coordinates.size(); ++i) {
      result.coordinates[i].push_back(number == kGap ? "" : std::to_string(rest % side.extents[i]));
      rest /= side.extents[i];
    }
  }
  return result;
}

bool follow(const Cell& a, const Cell& b) {
  const bool alike = a.fill == b.fill && a.lines == b.lines && a.prefix == b.prefix;
  if (!alike || !a.suffix.empty() || !b.suffix.empty()) return false;
  return a.first == Cell::kNone ? b.first == Cell::kNone : b.first == a.last + 1;
}

/// The largest number of columns that can be joined in every row. Divides `columns`.
std::int64_t block_of(std::int64_t rows, std::int64_t columns, const CellAt& cell_at) {
  std::int64_t block = columns;
  for (std::int64_t m = 0; m < rows; ++m) {
    Cell before = cell_at(m, 0);
    for (std::int64_t n = 1; n < columns && block > 1; ++n) {
      Cell next = cell_at(m, n);
      if (!follow(before, next)) block = std::gcd(block, n);
      before = std::move(next);
    }
  }
  return block;
}

/// The side with `block` rows joined into one. If a mode does not end with a block, all modes
/// become one.
TableSide blocked(const TableSide& side, std::int64_t block) {
  TableSide result{.extents = {}, .block = block};
  for (const std::int64_t extent : side.extents) {
    const std::int64_t part = std::gcd(extent, block);
    if (part != block && part != extent) return {{side.count() / result.block}, result.block};
    block /= part;
    if (extent > part) result.extents.push_back(extent / part);
  }
  return result;
}

CellAt joined_cells(const CellAt& cell_at, std::int64_t rows, std::int64_t columns) {
  return [=](std::int64_t m, std::int64_t n) {
    Cell cell = cell_at(m * rows, n * columns);
    cell.last = cell_at((m + 1) * rows - 1, (n + 1) * columns - 1).last;
    return cell;
  };
}

}  // namespace

std::int64_t TableSide::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  return product;
}

TableSide side_of(const IntTuple& extents) {
  TableSide side;
  for (const Dim& extent : extents.leaves()) {
    if (!extent.is(1)) side.extents.push_back(extent.value());
  }
  return side;
}

TableSide side_of_one() {
  return {};
}

void check_cells(const Table& table) {
  if (table.rows.count() > 0 && table.columns.count() > 0) return;
  throw UsageError(fmt::format("{} has no elements to draw", table.title));
}

Table joined(const Table& table) {
  Table result = table;
  const std::int64_t rows = table.rows.count(), columns = table.columns.count();
  if ((rows <= kPageRows && columns <= kPageColumns) || columns > kMostJoined / rows) return result;
  if (columns > kPageColumns) {
    const std::int64_t block = block_of(rows, columns, table.cell_at);
    result.columns = blocked(table.columns, block);
    result.cell_at = joined_cells(table.cell_at, 1, block);
  }
  if (rows > kPageRows) {
    const CellAt cells = result.cell_at;
    const std::int64_t block = block_of(
        result.columns.count(), rows, [&](std::int64_t n, std::int64_t m) { return cells(m, n); });
    result.rows = blocked(table.rows, block);
    result.cell_at = joined_cells(cells, block, 1);
  }
  return result;
}

Picture make_picture(const Table& table, Shown shown) {
  const std::int64_t row_count = table.rows.count(), column_count = table.columns.count();
  const bool few = column_count <= kMostCells / row_count;
  const auto edge_of = [&](std::int64_t count, std::int64_t page) {
    if (shown == Shown::most) return few ? count : kEdge;
    return count <= page ? count : kPageEdge;
  };
  const auto rows = numbers_of(row_count, edge_of(row_count, kPageRows));
  const auto columns = numbers_of(column_count, edge_of(column_count, kPageColumns));
  Picture picture{.title = table.title,
                  .note = table.note,
                  .legend = table.legend,
                  .rows = picture_side(table.rows, rows),
                  .columns = picture_side(table.columns, columns),
                  .width = table.width};
  for (const std::int64_t row : rows) {
    for (const std::int64_t column : columns) {
      const bool gap = row == kGap || column == kGap;
      picture.cells.push_back(gap ? Cell{.lines = {kDots}} : table.cell_at(row, column));
    }
  }
  return picture;
}

}  // namespace tilejit::cli
