#include "layout/layout_drawing.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/terminal.hpp"

namespace tilejit::cli {

void add_picture_options(CLI::App& command, PictureFiles& files) {
  const auto is_path = [](const std::string& path) -> std::string {
    if (path == "-" || (!path.empty() && path.front() != '-')) return "";
    return fmt::format("takes a file or -, got '{}'", path);
  };
  command.add_option("--svg", files.svg, "A picture to this file, - for standard output")
      ->type_name("FILE")
      ->check(is_path);
  command.add_option("--latex", files.latex, "TikZ to this file, - for standard output")
      ->type_name("FILE")
      ->check(is_path);
  command.add_flag("--all", files.all,
                   "Draw every cell: without it a picture of more than 40 rows or 32 columns joins "
                   "neighbours, or lacks its middle, so that it fits a page");
}

void write_picture(const Table& table, const PictureFiles& files) {
  if (!files.svg.empty() && files.svg == files.latex) {
    throw UsageError(fmt::format("--svg and --latex both write {}; give each its own", files.svg));
  }
  check_cells(table);
  if (files.svg.empty() && files.latex.empty()) {
    return write_file("-", picture_text(make_picture(table, Shown::most), colours(stdout)));
  }
  const Picture picture =
      files.all ? make_picture(table, Shown::most) : make_picture(joined(table), Shown::page);
  if (!files.svg.empty()) write_file(files.svg, picture_svg(picture));
  if (!files.latex.empty()) write_file(files.latex, picture_latex(picture));
}

void check_known(const Layout& layout, const std::string& what) {
  const auto known = [](const Mode& leaf) {
    return leaf.extent.is_known() && leaf.stride.is_known();
  };
  if (std::ranges::all_of(layout.leaves(), known)) return;
  throw UsageError(fmt::format("{} needs known extents and strides, and {} has others; put numbers",
                               what, to_string(layout)));
}

}  // namespace tilejit::cli
