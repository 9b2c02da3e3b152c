#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilejit::cli {

struct Colour {
  std::uint8_t red = 255, green = 255, blue = 255;
};

/// One cell of a table: a line or two of text on a colour.
struct Cell {
  std::vector<std::string> lines;
  Colour fill = {};
};

/// A table whose rows and columns have labels.
struct Picture {
  std::string title;
  std::vector<std::string> row_labels, column_labels;
  std::size_t width = 1;         ///< of a cell's text, at least
  std::vector<Cell> cells = {};  ///< by rows
};

/// As CuTe's print_layout: title, column numbers, rows between rules.
[[nodiscard]] std::string picture_text(const Picture& picture);
[[nodiscard]] std::string picture_svg(const Picture& picture);
/// A document with a TikZ picture, as CuTe's print_latex writes.
[[nodiscard]] std::string picture_latex(const Picture& picture);

/// CuTe's 8 shades of grey, in its order.
[[nodiscard]] Colour grey_of(std::int64_t value);
/// One of 12 light colours.
[[nodiscard]] Colour colour_of(std::int64_t value);

}  // namespace tilejit::cli
