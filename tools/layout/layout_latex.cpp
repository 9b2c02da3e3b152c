#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "layout/layout_picture.hpp"

namespace tilejit::cli {
namespace {

using Out = std::back_insert_iterator<std::string>;

void tikz_cell(Out out, std::size_t row, std::size_t column, const Cell& cell) {
  const Colour fill = cell.fill;
  fmt::format_to(out,
                 "\\node[fill={{rgb,255:red,{};green,{};blue,{}}},text={}] at ({},{}) {{{}}};\n",
                 fill.red, fill.green, fill.blue, is_dark(fill) ? "white" : "black", row, column,
                 fmt::join(cell.text(), "\\\\"));
}

// Draws a line at each row or column at which nested modes start anew.
void tikz_marks(Out out, const Picture& picture) {
  const std::size_t rows = picture.rows.marks.size(), columns = picture.columns.marks.size();
  constexpr const char* kLine =
      "\\draw[line width={}pt,shift={{(-0.5,-0.5)}}] ({},{}) -- ({},{});\n";
  for (std::size_t row = 1; row < rows; ++row) {
    const int mark = picture.rows.marks[row];
    if (mark > 0) fmt::format_to(out, kLine, 1 + mark, row, 0, row, columns);
  }
  for (std::size_t n = 1; n < columns; ++n) {
    const int mark = picture.columns.marks[n];
    if (mark > 0) fmt::format_to(out, kLine, 1 + mark, 0, n, rows, n);
  }
}

}  // namespace

std::string picture_latex(const Picture& picture) {
  const auto wide = static_cast<double>(std::max<std::size_t>(4, widest_line(picture))) / 4;
  std::string tex = "% " + picture.title +
                    "\n\\documentclass{standalone}\n\\usepackage{tikz}\n\n\\begin{document}\n";
  const Out out = std::back_inserter(tex);
  fmt::format_to(out,
                 "\\begin{{tikzpicture}}[x={{(0cm,-1cm)}},y={{({0}cm,0cm)}},every node/.style={{"
                 "minimum width={0}cm,minimum height=1cm,outer sep=0pt,align=center}}]\n",
                 wide);
  const auto& row_labels = picture.rows.labels;
  const auto& column_labels = picture.columns.labels;
  auto cell = picture.cells.begin();
  for (std::size_t row = 0; row < row_labels.size(); ++row) {
    for (std::size_t n = 0; n < column_labels.size(); ++n) tikz_cell(out, row, n, *cell++);
  }
  fmt::format_to(out, "\\draw[thick,shift={{(-0.5,-0.5)}}] (0,0) grid ({},{});\n",
                 row_labels.size(), column_labels.size());
  tikz_marks(out, picture);
  for (std::size_t row = 0; row < row_labels.size(); ++row) {
    fmt::format_to(out, "\\node at ({},-1) {{\\texttt{{{}}}}};\n", row, row_labels[row]);
  }
  for (std::size_t n = 0; n < column_labels.size(); ++n) {
    fmt::format_to(out, "\\node at (-1,{}) {{\\texttt{{{}}}}};\n", n, column_labels[n]);
  }
  return tex + "\\end{tikzpicture}\n\\end{document}\n";
}

}  // namespace tilejit::cli
