#include "layout_drawing.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "command.hpp"
#include "files.hpp"

namespace tilejit::cli {

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

void check_cells(std::int64_t rows, std::int64_t columns, const std::string& what) {
  if (rows < 1 || columns < 1) {
    throw UsageError(fmt::format("{} has no elements to draw", what));
  }
  if (columns <= kMostCells / rows) return;
  throw UsageError(
      fmt::format("{} is a table of {} by {}, and {} cells are the most that is drawn; "
                  "draw a part of it, as zipped_divide gives",
                  what, rows, columns, kMostCells));
}

}  // namespace tilejit::cli
