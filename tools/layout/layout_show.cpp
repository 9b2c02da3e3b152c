#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common/command.hpp"
#include "common/options.hpp"
#include "layout/layout_commands.hpp"
#include "layout/layout_drawing.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::cli {
namespace {

// The same layout, with all modes except the last grouped into one.
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

struct ShowOptions {
  std::string layout, colour;
  int bytes = 0;  // per element; 0: not given
  PictureFiles files;
};

// How an index decides the colour of its cell.
struct Colouring {
  std::int64_t scale = 1, unit = 1;  // index * scale / unit numbers the unit that is coloured
  std::int64_t count = 0;            // of different colours; 0: CuTe's greys, by the index itself
  std::string note = {};

  [[nodiscard]] Colour colour_of_number(std::int64_t number) const {
    return count <= 12 ? colour_of(number) : hue_of(number);
  }
  [[nodiscard]] Colour operator()(std::int64_t index) const {
    if (count == 0) return grey_of(index);
    return colour_of_number(index * scale / unit % count);
  }
};

Colouring by_swizzled_chunk(const Swizzle& swizzle) {
  const std::int64_t unit = std::int64_t{1} << swizzle.base(),
                     count = std::int64_t{1} << swizzle.bits();
  const std::string what =
      unit == 1 ? "the element" : fmt::format("the chunk of {} elements", unit);
  return {.unit = unit,
          .count = count,
          .note = fmt::format("colours: {}, by its number modulo {}", what, count)};
}

Colouring colouring_of(const ShowOptions& options, const ComposedLayout& layout) {
  const bool swizzled = layout.swizzle().bits() > 0;
  const std::string by = !options.colour.empty() ? options.colour : swizzled ? "chunk" : "index";
  if (by == "index") return {};
  if (by == "chunk" && swizzled && options.bytes == 0) return by_swizzled_chunk(layout.swizzle());
  if (options.bytes == 0) {
    throw UsageError(
        fmt::format("--colour {} needs the size of an element; add --bytes 2 for f16", by));
  }
  if (by == "chunk") {
    return {.scale = options.bytes,
            .unit = 16,
            .count = 8,
            .note = "colours: the chunk of 16 bytes, by its number modulo 8"};
  }
  return {.scale = options.bytes,
          .unit = 4,
          .count = 32,
          .note = "colours: the bank of shared memory, 32 of 4 bytes"};
}

std::vector<LegendEntry> legend_of(const Colouring& colouring) {
  std::vector<LegendEntry> legend;
  for (std::int64_t i = 0; i < colouring.count; ++i) {
    legend.push_back({std::to_string(i), colouring.colour_of_number(i)});
  }
  return legend;
}

Table layout_table(const ComposedLayout& layout, const Colouring& colouring) {
  check_rank(layout.layout());
  check_known(layout.layout(), "show");
  (void)size(layout.layout());  // throws if a number below would overflow
  const IntTuple extents = layout.layout().shape();
  const bool is_matrix = rank(layout.layout()) == 2;
  const std::int64_t rows = size(mode(layout.layout(), 0)).value();
  // As wide as CuTe prints them: by the cosize, or by the indices if the layout is swizzled.
  const std::size_t width = layout.is_plain() ? std::to_string(cosize(layout.layout())).size() : 1;
  return {.title = to_string(layout),
          .note = colouring.note,
          .legend = legend_of(colouring),
          .rows = side_of(mode(extents, 0)),
          .columns = is_matrix ? side_of(mode(extents, 1)) : side_of_one(),
          .width = width,
          .cell_at = [layout, colouring, rows](std::int64_t m, std::int64_t n) {
            const std::int64_t value = layout(m + n * rows);
            return Cell{.first = value, .last = value, .fill = colouring(value)};
          }};
}

}  // namespace

void add_layout_show(CLI::App& layout) {
  CLI::App* command = layout.add_subcommand("show", "Draw the table of a layout's indices");
  command->group("Pictures");
  auto options = std::make_shared<ShowOptions>();
  command->add_option("LAYOUT", options->layout, "Of rank 1 or 2, as in ((2,2),2):((4,2),1)")
      ->type_name("LAYOUT")
      ->required();
  command
      ->add_option(
          "--colour,--color", options->colour,
          "What cells of one colour share: the index modulo 8, the chunk that a swizzle "
          "moves or the 16 bytes, the bank of shared memory; default: chunk where swizzled")
      ->type_name("index|chunk|bank")
      ->check(one_of({"index", "chunk", "bank"}));
  command->add_option("--bytes", options->bytes, "Of an element, for chunks and banks")
      ->type_name("1|2|4|8|16")
      ->check(one_of({"1", "2", "4", "8", "16"}));
  add_picture_options(*command, options->files);
  command->footer(
      "Examples:\n"
      "  tilejit layout show '((2,2),2):((4,2),1)'\n"
      "  tilejit layout show 'Sw<3,0,3> o 0 o (8,8):(8,1)'\n"
      "  tilejit layout show 'Sw<3,3,3> o 0 o (8,64):(64,1)' --svg swizzle.svg\n"
      "  tilejit layout show '(32,32):(32,1)' --colour bank --bytes 4 --svg banks.svg\n"
      "  tilejit layout show '(8,8):(8,1)' --svg layout.svg --latex layout.tex");
  command->callback([options, &layout] {
    check_no_batch(layout);
    const ComposedLayout drawn = parse_composed_layout(options->layout);
    write_picture(layout_table(drawn, colouring_of(*options, drawn)), options->files);
  });
}

}  // namespace tilejit::cli
