#include "layout/layout_drawing.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/command.hpp"
#include "common/files.hpp"

namespace tilejit::cli {
namespace {

constexpr std::int64_t kEdge = 16;  // rows and columns that a large table has on each side
constexpr std::int64_t kGap = -1;
constexpr const char* kDots = "...";

std::vector<std::int64_t> shown(std::int64_t count, bool all) {
  std::vector<std::int64_t> numbers;
  if (all || count <= 2 * kEdge) {
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
    return numbers;
  }
  for (std::int64_t i = 0; i < kEdge; ++i) numbers.push_back(i);
  numbers.push_back(kGap);
  for (std::int64_t i = count - kEdge; i < count; ++i) numbers.push_back(i);
  return numbers;
}

std::vector<std::string> labels(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const std::int64_t number : numbers)
    texts.push_back(number == kGap ? kDots : std::to_string(number));
  return texts;
}

}  // namespace

void add_picture_options(CLI::App& command, PictureFiles& files) {
  const auto is_path = [](const std::string& path) -> std::string {
    if (path == "-" || (!path.empty() && path.front() != '-')) return "";
    return fmt::format("takes a file or -, got '{}'", path);
  };
  command.add_option("--svg", files.svg, "A picture to this file, - for standard output")
      ->check(is_path);
  command.add_option("--latex", files.latex, "TikZ to this file, - for standard output")
      ->check(is_path);
}

void write_picture(const Picture& picture, const PictureFiles& files) {
  if (!files.svg.empty() && files.svg == files.latex) {
    throw UsageError(fmt::format("--svg and --latex both write {}; give each its own", files.svg));
  }
  if (!files.svg.empty()) write_file(files.svg, picture_svg(picture));
  if (!files.latex.empty()) write_file(files.latex, picture_latex(picture));
  if (files.svg.empty() && files.latex.empty()) write_file("-", picture_text(picture));
}

void check_known(const Layout& layout, const std::string& what) {
  const auto known = [](const Mode& leaf) {
    return leaf.extent.is_known() && leaf.stride.is_known();
  };
  if (std::ranges::all_of(layout.leaves(), known)) return;
  throw UsageError(fmt::format("{} needs known extents and strides, and {} has others; put numbers",
                               what, to_string(layout)));
}

Picture make_picture(const std::string& title, std::int64_t rows, std::int64_t columns,
                     std::size_t width, const CellAt& cell_at) {
  if (rows < 1 || columns < 1) throw UsageError(fmt::format("{} has no elements to draw", title));
  const bool all = columns <= kMostCells / rows;
  const auto shown_rows = shown(rows, all), shown_columns = shown(columns, all);
  Picture picture{.title = title,
                  .row_labels = labels(shown_rows),
                  .column_labels = labels(shown_columns),
                  .width = width};
  for (const std::int64_t row : shown_rows) {
    for (const std::int64_t column : shown_columns) {
      const bool gap = row == kGap || column == kGap;
      picture.cells.push_back(gap ? Cell{.lines = {kDots}} : cell_at(row, column));
    }
  }
  return picture;
}

}  // namespace tilejit::cli
