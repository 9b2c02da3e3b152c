#pragma once

#include <cstdint>
#include <string>

#include "layout_picture.hpp"
#include "tilejit/layout.hpp"

namespace CLI {
class App;
}

namespace tilejit::cli {

/// Where a picture goes; as text to standard output where both are empty.
struct PictureFiles {
  std::string svg, latex;
};
void add_picture_options(CLI::App& command, PictureFiles& files);
/// Throws Failure, and UsageError for two pictures in one file.
void write_picture(const Picture& picture, const PictureFiles& files);

/// Throws UsageError, with what to do, unless all extents and strides are known numbers.
void check_known(const Layout& layout, const std::string& what);
/// Throws UsageError unless 1 <= rows * columns <= kMostCells.
void check_cells(std::int64_t rows, std::int64_t columns, const std::string& what);

}  // namespace tilejit::cli
