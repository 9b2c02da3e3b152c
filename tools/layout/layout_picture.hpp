#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout_colours.hpp"

namespace tilejit::cli {

/// One cell of a table: lines of text on a colour. The last line is a number, or a range of numbers
/// where cells have been joined.
struct Cell {
  static constexpr std::int64_t kNone = -1;

  std::vector<std::string> lines = {};  ///< above the number
  std::string prefix = {};              ///< of the number, as the V of V0
  std::int64_t first = kNone, last = kNone;
  std::string suffix = {};
  Colour fill = {};

  /// All lines.
  [[nodiscard]] std::vector<std::string> text() const;
};

/// The rows or the columns of a table, as it is drawn.
struct PictureSide {
  std::vector<std::string> labels;  ///< one a row
  std::vector<int> marks;           ///< how many modes of a nested one start anew at a row
  /// Of each mode of a nested one, the fastest first, its coordinate in each row; else empty.
  std::vector<std::vector<std::string>> coordinates;
};

struct LegendEntry {
  std::string label;
  Colour fill;
};

/// A table whose rows and columns have labels.
struct Picture {
  std::string title;
  std::string note = {};  ///< what the colours are; of pictures, not of text
  std::vector<LegendEntry> legend = {};
  PictureSide rows, columns;
  std::size_t width = 1;         ///< of a cell's text, at least
  std::vector<Cell> cells = {};  ///< by rows
};

/// As CuTe's print_layout: title, column numbers, rows between rules. On a terminal that shows
/// them, cells have their colours.
[[nodiscard]] std::string picture_text(const Picture& picture, bool colours);
[[nodiscard]] std::string picture_svg(const Picture& picture);
/// A document with a TikZ picture, as CuTe's print_latex writes.
[[nodiscard]] std::string picture_latex(const Picture& picture);

/// The length of the longest text.
[[nodiscard]] std::size_t longest(const std::vector<std::string>& texts);
/// The length of the longest line of a cell, and at least the picture's width.
[[nodiscard]] std::size_t widest_line(const Picture& picture);

}  // namespace tilejit::cli
