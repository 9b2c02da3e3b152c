#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common/command.hpp"
#include "layout/layout_commands.hpp"
#include "layout/layout_drawing.hpp"
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

Picture layout_picture(const ComposedLayout& layout) {
  check_rank(layout.layout());
  check_known(layout.layout(), "show");
  const std::int64_t rows = size(mode(layout.layout(), 0)).value();
  const std::int64_t columns =
      rank(layout.layout()) == 2 ? size(mode(layout.layout(), 1)).value() : 1;
  (void)size(layout.layout());  // so that no number below overflows
  // As wide as CuTe's: by the cosize, of a swizzled layout by the indices.
  const std::size_t width = layout.is_plain() ? std::to_string(cosize(layout.layout())).size() : 1;
  return make_picture(to_string(layout), rows, columns, width, [&](std::int64_t m, std::int64_t n) {
    const std::int64_t value = layout(m + n * rows);
    return Cell{{std::to_string(value)}, grey_of(value)};
  });
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
