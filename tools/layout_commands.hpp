#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "layout_picture.hpp"
#include "tilejit/layout.hpp"

namespace CLI {
class App;
}

namespace tilejit::cli {

/// The subcommands of `tilejit layout` that are no operation.
void add_layout_show(CLI::App& layout);
void add_layout_tv(CLI::App& layout);

/// Answers one JSON object a line, from a file or "-". Throws Failure, after the last line, if a
/// line had no answer.
void answer_batch(const std::filesystem::path& path);

/// Where a picture goes besides the text on standard output, which it replaces.
struct PictureFiles {
  std::string svg, latex;
};
void add_picture_options(CLI::App& command, PictureFiles& files);
void write_picture(const Picture& picture, const PictureFiles& files);

/// Throws UsageError, with what to do, unless all extents and strides are known numbers.
void check_known(const Layout& layout, const std::string& what);
/// Throws UsageError unless 1 <= rows * columns <= kMostCells.
void check_cells(std::int64_t rows, std::int64_t columns, const std::string& what);

}  // namespace tilejit::cli
