#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout_colours.hpp"

namespace tilejit::cli {

/// One cell of a table: lines of text on a colour. The last line is a number, or a range of numbers
/// if cells have been joined.
struct Cell {
  static constexpr std::int64_t kNone = -1;

  std::vector<std::string> lines = {};  ///< above the number
  std::string prefix = {};              ///< before the number: the V of V0
  std::int64_t first = kNone, last = kNone;
  std::string suffix = {};
  Colour fill = {};

  /// All lines, the number included.
  [[nodiscard]] std::vector<std::string> text() const;
};

/// The rows or the columns of a table, as they are drawn. The members speak of rows.
struct PictureSide {
  std::vector<std::string> labels;  ///< one per row
  std::vector<int> marks;           ///< for each row, how many nested modes start anew there
  /// For each nested mode, the fastest first: its coordinate in each row. Empty if nothing is
  /// nested.
  std::vector<std::vector<std::string>> coordinates;
};

struct LegendEntry {
  std::string label;
  Colour fill;
};

/// A table whose rows and columns have labels.
struct Picture {
  std::string title;
  std::string note = {};  ///< what the colours mean; shown in pictures, not in text
  std::vector<LegendEntry> legend = {};
  PictureSide rows, columns;
  std::size_t width = 1;         ///< of a cell's text, at least, in characters
  std::vector<Cell> cells = {};  ///< row by row
};

/// Text as CuTe's print_layout prints it: title, column numbers, rows between rules. `colours`:
/// cells have their colours, for a terminal that shows them.
[[nodiscard]] std::string picture_text(const Picture& picture, bool colours);
[[nodiscard]] std::string picture_svg(const Picture& picture);
/// A document with a TikZ picture, as CuTe's print_latex writes.
[[nodiscard]] std::string picture_latex(const Picture& picture);

/// The length of the longest text.
[[nodiscard]] std::size_t longest(const std::vector<std::string>& texts);
/// The length of the longest line of a cell, and at least the picture's width.
[[nodiscard]] std::size_t widest_line(const Picture& picture);

}  // namespace tilejit::cli
