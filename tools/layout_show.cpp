#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "command.hpp"
#include "layout_commands.hpp"
#include "layout_drawing.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::cli {
namespace {

// The same layout with all modes but the last grouped into one.
Layout grouped(const Layout& layout) {
  Nested<Mode> rows = Nested<Mode>::empty_tuple();
  for (std::size_t i = 0; i + 1 < rank(layout); ++i) rows.append(layout.modes().mode(i));
  return Nested<Mode>{rows, layout.modes().mode(rank(layout) - 1)};
}

void check_rank(const Layout& layout) {
  if (rank(layout) <= 2) return;
  throw UsageError(fmt::format("{} has rank {}, a table has rank 1 or 2; group its modes, as in {}",
                               to_string(layout), rank(layout), to_string(grouped(layout))));
}

// As wide as CuTe's: by the cosize, of a swizzled layout by the largest index.
std::size_t widest_index(const ComposedLayout& layout, std::int64_t size) {
  std::int64_t largest = layout.is_plain() ? cosize(layout.layout()) : 0;
  for (std::int64_t i = 0; i < size && !layout.is_plain(); ++i)
    largest = std::max(largest, layout(i));
  return std::to_string(largest).size();
}

Picture layout_picture(const ComposedLayout& layout) {
  check_rank(layout.layout());
  check_known(layout.layout(), "show");
  const Dim rows = size(mode(layout.layout(), 0));
  const Dim columns = rank(layout.layout()) == 2 ? size(mode(layout.layout(), 1)) : Dim(1);
  check_cells(rows.value(), columns.value(), to_string(layout));
  Picture picture{.title = to_string(layout),
                  .rows = rows.value(),
                  .columns = columns.value(),
                  .width = widest_index(layout, rows.value() * columns.value()),
                  .cells = {}};
  for (std::int64_t m = 0; m < picture.rows; ++m) {
    for (std::int64_t n = 0; n < picture.columns; ++n) {
      const std::int64_t value = layout(m + n * picture.rows);
      picture.cells.push_back({{std::to_string(value)}, grey_of(value)});
    }
  }
  return picture;
}

struct ShowOptions {
  std::string layout;
  PictureFiles files;
};

}  // namespace

void add_layout_show(CLI::App& layout) {
  CLI::App* command = layout.add_subcommand("show", "Draw the table of a layout's indices");
  command->group("Pictures");
  auto options = std::make_shared<ShowOptions>();
  command->add_option("LAYOUT", options->layout, "Of rank 1 or 2, as in ((2,2),2):((4,2),1)")
      ->required();
  add_picture_options(*command, options->files);
  command->footer(
      "Examples:\n"
      "  tilejit layout show '((2,2),2):((4,2),1)'\n"
      "  tilejit layout show 'Sw<3,0,3> o 0 o (8,8):(8,1)'\n"
      "  tilejit layout show '(8,8):(8,1)' --svg layout.svg --latex layout.tex");
  command->callback([options, &layout] {
    check_no_batch(layout);
    write_picture(layout_picture(parse_composed_layout(options->layout)), options->files);
  });
}

}  // namespace tilejit::cli
