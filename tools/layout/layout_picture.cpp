#include "layout/layout_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "common/xml_text.hpp"

namespace tilejit::cli {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::array<int, 8> kBlackness = {0, 40, 20, 60, 10, 50, 30, 70};  // percent

constexpr std::array<Colour, 12> kColours = {{{0x8d, 0xd3, 0xc7},
                                              {0xff, 0xff, 0xb3},
                                              {0xbe, 0xba, 0xda},
                                              {0xfb, 0x80, 0x72},
                                              {0x80, 0xb1, 0xd3},
                                              {0xfd, 0xb4, 0x62},
                                              {0xb3, 0xde, 0x69},
                                              {0xfc, 0xcd, 0xe5},
                                              {0xd9, 0xd9, 0xd9},
                                              {0xbc, 0x80, 0xbd},
                                              {0xcc, 0xeb, 0xc5},
                                              {0xff, 0xed, 0x6f}}};

std::size_t longest(const std::vector<std::string>& labels) {
  std::size_t length = 0;
  for (const std::string& label : labels) length = std::max(length, label.size());
  return length;
}

// White text where black would be hard to read.
bool is_dark(Colour colour) {
  return 299 * colour.red + 587 * colour.green + 114 * colour.blue < 115 * 1000;
}

std::string joined(const Cell& cell, const char* separator) {
  return fmt::format("{}", fmt::join(cell.lines, separator));
}

std::size_t widest(const Picture& picture) {
  std::size_t width = std::max(picture.width, longest(picture.column_labels));
  for (const Cell& cell : picture.cells) width = std::max(width, joined(cell, " ").size());
  return width;
}

std::size_t widest_line(const Picture& picture) {
  std::size_t width = picture.width;
  for (const Cell& cell : picture.cells) {
    for (const std::string& line : cell.lines) width = std::max(width, line.size());
  }
  return width;
}

// Sizes of an SVG, in pixels.
struct Metrics {
  explicit Metrics(const Picture& picture) {
    const std::size_t line = std::max<std::size_t>(widest_line(picture), 2);
    std::size_t lines = 1;
    for (const Cell& cell : picture.cells) lines = std::max(lines, cell.lines.size());
    cell_width = 12 + 8 * static_cast<std::int64_t>(line);
    cell_height = 14 + 14 * static_cast<std::int64_t>(lines);
    left = 16 + 8 * static_cast<std::int64_t>(longest(picture.row_labels));
    const auto title = 16 + 8 * static_cast<std::int64_t>(picture.title.size());
    width = std::max(
        left + static_cast<std::int64_t>(picture.column_labels.size()) * cell_width + 8, title);
    height = top + static_cast<std::int64_t>(picture.row_labels.size()) * cell_height + 8;
  }

  std::int64_t cell_width, cell_height, left, width, height;
  static constexpr std::int64_t top = 48;
};

void svg_text(Out out, std::int64_t x, std::int64_t y, const char* style, const std::string& text) {
  fmt::format_to(out, "<text x=\"{}\" y=\"{}\"{}>{}</text>\n", x, y, style, escaped_xml(text));
}

void svg_cell(Out out, const Metrics& m, std::int64_t x, std::int64_t y, const Cell& cell) {
  const Colour fill = cell.fill;
  fmt::format_to(out,
                 "<rect class=\"cell\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                 "fill=\"#{:02x}{:02x}{:02x}\" stroke=\"#000\"/>\n",
                 x, y, m.cell_width, m.cell_height, fill.red, fill.green, fill.blue);
  const auto lines = static_cast<std::int64_t>(cell.lines.size());
  std::int64_t baseline = y + m.cell_height / 2 + 5 - 7 * (lines - 1);
  for (const std::string& line : cell.lines) {
    svg_text(out, x + m.cell_width / 2, baseline, is_dark(fill) ? " fill=\"#fff\"" : "", line);
    baseline += 14;
  }
}

void svg_labels(Out out, const Picture& picture, const Metrics& m) {
  constexpr const char* kLabel = " fill=\"#666\"";
  svg_text(out, 8, 20, " text-anchor=\"start\"", picture.title);
  std::int64_t x = m.left + m.cell_width / 2, y = m.top + m.cell_height / 2 + 5;
  for (const std::string& label : picture.column_labels) {
    svg_text(out, x, m.top - 6, kLabel, label);
    x += m.cell_width;
  }
  for (const std::string& label : picture.row_labels) {
    svg_text(out, m.left / 2, y, kLabel, label);
    y += m.cell_height;
  }
}

void tikz_cell(Out out, std::size_t row, std::size_t column, const Cell& cell) {
  const Colour fill = cell.fill;
  fmt::format_to(out,
                 "\\node[fill={{rgb,255:red,{};green,{};blue,{}}},text={}] at ({},{}) {{{}}};\n",
                 fill.red, fill.green, fill.blue, is_dark(fill) ? "white" : "black", row, column,
                 joined(cell, "\\\\"));
}

}  // namespace

std::string picture_text(const Picture& picture) {
  const std::size_t width = widest(picture);
  const std::size_t label = std::max<std::size_t>(2, longest(picture.row_labels));
  const std::string margin(label + 2, ' ');
  std::string rule = margin, text = picture.title + '\n' + margin;
  for (const std::string& column : picture.column_labels) {
    text += fmt::format("  {:>{}} ", column, width);
    rule += '+' + std::string(width + 2, '-');
  }
  text += '\n' + rule + "+\n";
  auto cell = picture.cells.begin();
  for (const std::string& row : picture.row_labels) {
    text += fmt::format("{:>{}}  ", row, label);
    for (std::size_t n = 0; n < picture.column_labels.size(); ++n) {
      text += fmt::format("| {:>{}} ", joined(*cell++, " "), width);
    }
    text += "|\n" + rule + "+\n";
  }
  return text;
}

std::string picture_svg(const Picture& picture) {
  const Metrics m(picture);
  std::string svg;
  const Out out = std::back_inserter(svg);
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                 "viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"13\" "
                 "text-anchor=\"middle\">\n<title>{2}</title>\n"
                 "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
                 m.width, m.height, escaped_xml(picture.title));
  svg_labels(out, picture, m);
  auto cell = picture.cells.begin();
  std::int64_t y = m.top;
  for (std::size_t row = 0; row < picture.row_labels.size(); ++row, y += m.cell_height) {
    std::int64_t x = m.left;
    for (std::size_t n = 0; n < picture.column_labels.size(); ++n, x += m.cell_width)
      svg_cell(out, m, x, y, *cell++);
  }
  return svg + "</svg>\n";
}

std::string picture_latex(const Picture& picture) {
  const auto wide = static_cast<double>(std::max<std::size_t>(4, widest_line(picture))) / 4;
  std::string tex = "% " + picture.title +
                    "\n\\documentclass{standalone}\n\\usepackage{tikz}\n\n\\begin{document}\n";
  const Out out = std::back_inserter(tex);
  fmt::format_to(out,
                 "\\begin{{tikzpicture}}[x={{(0cm,-1cm)}},y={{({0}cm,0cm)}},every node/.style={{"
                 "minimum width={0}cm,minimum height=1cm,outer sep=0pt,align=center}}]\n",
                 wide);
  auto cell = picture.cells.begin();
  const std::size_t rows = picture.row_labels.size(), columns = picture.column_labels.size();
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t n = 0; n < columns; ++n) tikz_cell(out, row, n, *cell++);
  }
  fmt::format_to(out, "\\draw[thick,shift={{(-0.5,-0.5)}}] (0,0) grid ({},{});\n", rows, columns);
  for (std::size_t row = 0; row < rows; ++row) {
    fmt::format_to(out, "\\node at ({},-1) {{\\texttt{{{}}}}};\n", row, picture.row_labels[row]);
  }
  for (std::size_t n = 0; n < columns; ++n) {
    fmt::format_to(out, "\\node at (-1,{}) {{\\texttt{{{}}}}};\n", n, picture.column_labels[n]);
  }
  return tex + "\\end{tikzpicture}\n\\end{document}\n";
}

Colour grey_of(std::int64_t value) {
  const int blackness = kBlackness[static_cast<std::size_t>(value) % kBlackness.size()];
  const auto level = static_cast<std::uint8_t>(255 * (100 - blackness) / 100);
  return {level, level, level};
}

Colour colour_of(std::int64_t value) {
  return kColours[static_cast<std::size_t>(value) % kColours.size()];
}

}  // namespace tilejit::cli
