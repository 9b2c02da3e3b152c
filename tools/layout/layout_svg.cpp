#include <fmt/format.h>

#include <algorithm>

#include "drawing/svg.hpp"
#include "layout/layout_picture.hpp"

namespace tilejit::cli {
namespace {

using drawing::Svg;

constexpr double kPad = 8;
constexpr std::size_t kManyColumns = 16;
constexpr const char* kMiddle = "middle";
constexpr const char* kLabelInk = "#666";

std::string hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

const char* ink_on(Colour colour) {
  return is_dark(colour) ? "#fff" : "#000";
}

// Sizes of text, in pixels.
struct Type {
  int font = 13;
  double letter = 8, line = 14;
  double gap = 12;  // around a cell's text

  [[nodiscard]] double width(std::size_t letters) const {
    return letter * static_cast<double>(letters);
  }
};

Type type_of(const Picture& picture) {
  if (picture.columns.labels.size() <= kManyColumns) return {};
  return {.font = 11, .letter = 6.8, .line = 12, .gap = 8};
}

// The positions of all parts of the picture.
struct Metrics {
  explicit Metrics(const Picture& picture) : type(type_of(picture)) {
    std::size_t lines = 1;
    for (const Cell& cell : picture.cells) lines = std::max(lines, cell.text().size());
    const std::size_t letters = std::max<std::size_t>(widest_line(picture), 2);
    cell_width =
        std::max(type.gap + type.width(letters), 4 + type.width(longest(picture.columns.labels)));
    cell_height = type.gap + type.line * static_cast<double>(lines);
    for (const auto& mode : picture.rows.coordinates) {
      row_modes.push_back(16 + type.width(longest(mode)));
      left += row_modes.back();
    }
    left += 16 + type.width(longest(picture.rows.labels));
    legend_at = picture.note.empty() ? 24 : 42;
    cells_at = picture.legend.empty() ? legend_at : legend_at + 26;
    top = cells_at + 20 + 18 * static_cast<double>(picture.columns.coordinates.size());
    const std::size_t text = std::max(picture.title.size(), picture.note.size());
    width = std::max({x(picture.columns.labels.size()) + kPad, 2 * kPad + type.width(text),
                      2 * kPad + kLegend * static_cast<double>(picture.legend.size())});
    height = y(picture.rows.labels.size()) + kPad;
  }

  [[nodiscard]] double x(std::size_t column) const {
    return left + cell_width * static_cast<double>(column);
  }
  [[nodiscard]] double y(std::size_t row) const {
    return top + cell_height * static_cast<double>(row);
  }

  static constexpr double kLegend = 26;  // width of one entry
  Type type;
  double cell_width, cell_height, width, height;
  double left = 0, top;           // of the first cell, in pixels
  double legend_at, cells_at;     // tops of the legend, and of the columns' labels
  std::vector<double> row_modes;  // widths of the rows' coordinates, the fastest mode first
};

void draw_cell(Svg& svg, const Metrics& m, drawing::Point at, const Cell& cell) {
  svg.rectangle({at.x, at.y, m.cell_width, m.cell_height},
                {{"class", "cell"}, {"fill", hex(cell.fill)}, {"stroke", "#000"}});
  const std::vector<std::string> lines = cell.text();
  double baseline = at.y + m.cell_height / 2 + m.type.line * 0.35 -
                    m.type.line / 2 * (static_cast<double>(lines.size()) - 1);
  for (const std::string& line : lines) {
    svg.text({at.x + m.cell_width / 2, baseline}, line,
             {{"text-anchor", kMiddle}, {"fill", ink_on(cell.fill)}});
    baseline += m.type.line;
  }
}

void draw_cells(Svg& svg, const Picture& picture, const Metrics& m) {
  auto cell = picture.cells.begin();
  for (std::size_t row = 0; row < picture.rows.labels.size(); ++row) {
    for (std::size_t n = 0; n < picture.columns.labels.size(); ++n) {
      draw_cell(svg, m, {m.x(n), m.y(row)}, *cell++);
    }
  }
}

// Draws a line at each row or column at which nested modes start anew. More such modes make it
// thicker.
void draw_marks(Svg& svg, const Picture& picture, const Metrics& m) {
  const std::size_t rows = picture.rows.labels.size(), columns = picture.columns.labels.size();
  const auto draw = [&](drawing::Point from, drawing::Point to, int mark) {
    svg.line(from, to,
             {{"class", "mark"},
              {"stroke", "#000"},
              {"stroke-width", drawing::number(1.5 + 1.5 * mark)}});
  };
  for (std::size_t n = 1; n < columns; ++n) {
    const int mark = picture.columns.marks[n];
    if (mark > 0) draw({m.x(n), m.y(0)}, {m.x(n), m.y(rows)}, mark);
  }
  for (std::size_t row = 1; row < rows; ++row) {
    const int mark = picture.rows.marks[row];
    if (mark > 0) draw({m.x(0), m.y(row)}, {m.x(columns), m.y(row)}, mark);
  }
}

// The first row after `begin` at which the mode, or a slower one, has another coordinate.
std::size_t end_of_run(const PictureSide& side, std::size_t mode, std::size_t begin) {
  const auto same = [&](std::size_t row) {
    for (std::size_t i = mode; i < side.coordinates.size(); ++i) {
      if (side.coordinates[i][row] != side.coordinates[i][begin]) return false;
    }
    return true;
  };
  std::size_t end = begin + 1;
  while (end < side.labels.size() && same(end)) ++end;
  return end;
}

// Writes each mode's coordinate over the columns that share it, the slowest mode at the top.
void draw_column_modes(Svg& svg, const PictureSide& side, const Metrics& m) {
  for (std::size_t mode = 0; mode < side.coordinates.size(); ++mode) {
    const double y = m.top - 24 - 18 * static_cast<double>(mode);
    for (std::size_t n = 0; n < side.labels.size();) {
      const std::size_t end = end_of_run(side, mode, n);
      svg.text({(m.x(n) + m.x(end)) / 2, y}, side.coordinates[mode][n],
               {{"text-anchor", kMiddle}, {"fill", kLabelInk}, {"font-size", "11"}});
      svg.line({m.x(n) + 4, y + 4}, {m.x(end) - 4, y + 4}, {{"stroke", "#aaa"}});
      n = end;
    }
  }
}

void draw_row_modes(Svg& svg, const PictureSide& side, const Metrics& m) {
  double right = m.left - 12 - m.type.width(longest(side.labels));
  for (std::size_t mode = 0; mode < side.coordinates.size(); ++mode) {
    for (std::size_t row = 0; row < side.labels.size();) {
      const std::size_t end = end_of_run(side, mode, row);
      svg.text({right - 8, (m.y(row) + m.y(end)) / 2 + 4}, side.coordinates[mode][row],
               {{"text-anchor", "end"}, {"fill", kLabelInk}, {"font-size", "11"}});
      svg.line({right - 4, m.y(row) + 4}, {right - 4, m.y(end) - 4}, {{"stroke", "#aaa"}});
      row = end;
    }
    right -= m.row_modes[mode];
  }
}

void draw_labels(Svg& svg, const Picture& picture, const Metrics& m) {
  const auto& columns = picture.columns.labels;
  const auto& rows = picture.rows.labels;
  for (std::size_t n = 0; n < columns.size(); ++n) {
    svg.text({m.x(n) + m.cell_width / 2, m.top - 6}, columns[n],
             {{"text-anchor", kMiddle}, {"fill", kLabelInk}});
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    svg.text({m.left - 8, m.y(row) + m.cell_height / 2 + 5}, rows[row],
             {{"text-anchor", "end"}, {"fill", kLabelInk}});
  }
  draw_column_modes(svg, picture.columns, m);
  draw_row_modes(svg, picture.rows, m);
}

void draw_legend(Svg& svg, const Picture& picture, const Metrics& m) {
  double x = kPad;
  for (const auto& [label, fill] : picture.legend) {
    svg.rectangle({x, m.legend_at, Metrics::kLegend, 18},
                  {{"class", "legend"}, {"fill", hex(fill)}, {"stroke", "#000"}});
    svg.text({x + Metrics::kLegend / 2, m.legend_at + 13}, label,
             {{"text-anchor", kMiddle}, {"font-size", "11"}, {"fill", ink_on(fill)}});
    x += Metrics::kLegend;
  }
}

}  // namespace

std::string picture_svg(const Picture& picture) {
  const Metrics m(picture);
  Svg svg({.width = m.width, .height = m.height, .font = Svg::Font::mono, .font_size = m.type.font},
          picture.title);
  svg.text({kPad, 18}, picture.title, {});
  if (!picture.note.empty()) svg.text({kPad, 35}, picture.note, {{"fill", kLabelInk}});
  draw_legend(svg, picture, m);
  draw_cells(svg, picture, m);
  draw_marks(svg, picture, m);
  draw_labels(svg, picture, m);
  return svg.document();
}

}  // namespace tilejit::cli
