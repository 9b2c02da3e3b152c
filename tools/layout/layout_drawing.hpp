#pragma once

#include <string>

#include "layout/layout_table.hpp"
#include "tilejit/layout.hpp"

namespace CLI {
class App;
}

namespace tilejit::cli {

/// The files that a picture goes to. If both names are empty, text goes to standard output.
struct PictureFiles {
  std::string svg, latex;
  bool all = false;  ///< whether pictures show more cells than fit a page
};
void add_picture_options(CLI::App& command, PictureFiles& files);
/// Throws Failure if a file cannot be written; UsageError for a table without cells, and if both
/// pictures name one file.
void write_picture(const Table& table, const PictureFiles& files);

/// Throws UsageError, which says what to do, unless all extents and strides are known numbers.
void check_known(const Layout& layout, const std::string& what);

}  // namespace tilejit::cli
