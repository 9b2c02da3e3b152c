#include "layout/layout_picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tilejit::cli {
namespace {

std::string one_line(const Cell& cell) {
  return fmt::format("{}", fmt::join(cell.text(), " "));
}

std::size_t widest(const Picture& picture) {
  std::size_t width = std::max(picture.width, longest(picture.columns.labels));
  for (const Cell& cell : picture.cells) width = std::max(width, one_line(cell).size());
  return width;
}

std::string text_cell(const Cell& cell, std::size_t width, bool colours) {
  const std::string text = fmt::format(" {:>{}} ", one_line(cell), width);
  if (!colours) return '|' + text;
  const Colour fill = cell.fill;
  return fmt::format("|\x1b[48;2;{};{};{};{}m{}\x1b[0m", fill.red, fill.green, fill.blue,
                     is_dark(fill) ? "97" : "30", text);
}

}  // namespace

std::vector<std::string> Cell::text() const {
  std::vector<std::string> all = lines;
  if (first == kNone) return all;
  const std::string range = first == last ? "" : fmt::format("-{}", last);
  all.push_back(fmt::format("{}{}{}{}", prefix, first, range, suffix));
  return all;
}

std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t length = 0;
  for (const std::string& text : texts) length = std::max(length, text.size());
  return length;
}

std::size_t widest_line(const Picture& picture) {
  std::size_t width = picture.width;
  for (const Cell& cell : picture.cells) width = std::max(width, longest(cell.text()));
  return width;
}

std::string picture_text(const Picture& picture, bool colours) {
  const std::size_t width = widest(picture);
  const std::size_t label = std::max<std::size_t>(2, longest(picture.rows.labels));
  const std::string margin(label + 2, ' ');
  std::string rule = margin, text = picture.title + '\n' + margin;
  for (const std::string& column : picture.columns.labels) {
    text += fmt::format("  {:>{}} ", column, width);
    rule += '+' + std::string(width + 2, '-');
  }
  text += '\n' + rule + "+\n";
  auto cell = picture.cells.begin();
  for (const std::string& row : picture.rows.labels) {
    text += fmt::format("{:>{}}  ", row, label);
    for (std::size_t n = 0; n < picture.columns.labels.size(); ++n) {
      text += text_cell(*cell++, width, colours);
    }
    text += "|\n" + rule + "+\n";
  }
  return text;
}

}  // namespace tilejit::cli
