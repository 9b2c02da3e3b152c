#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "layout/layout_picture.hpp"
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
/// Tables of more cells are drawn without their middle.
constexpr std::int64_t kMostCells = 16384;
using CellAt = std::function<Cell(std::int64_t row, std::int64_t column)>;
/// A table of `rows` by `columns`; of a large one the first 16 and the last 16 of each, and dots
/// between them. Throws UsageError if it has no cell.
[[nodiscard]] Picture make_picture(const std::string& title, std::int64_t rows,
                                   std::int64_t columns, std::size_t width, const CellAt& cell_at);

}  // namespace tilejit::cli
