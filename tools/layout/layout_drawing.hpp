#pragma once

#include <string>

#include "layout/layout_table.hpp"
#include "tilejit/layout.hpp"

namespace CLI {
class App;
}

namespace tilejit::cli {

/// Where a picture goes; as text to standard output where both are empty.
struct PictureFiles {
  std::string svg, latex;
  bool all = false;  ///< cells of pictures too, beyond a page
};
void add_picture_options(CLI::App& command, PictureFiles& files);
/// Throws Failure; UsageError for a table without cells, and for two pictures in one file.
void write_picture(const Table& table, const PictureFiles& files);

/// Throws UsageError, with what to do, unless all extents and strides are known numbers.
void check_known(const Layout& layout, const std::string& what);

}  // namespace tilejit::cli
