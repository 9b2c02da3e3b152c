#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common/command.hpp"
#include "layout/layout_commands.hpp"
#include "layout/layout_drawing.hpp"
#include "tilejit/indexing.hpp"

namespace tilejit::cli {
namespace {

struct ThreadValue {
  std::int64_t thread, value;
};

// The threads and values that reach each cell of a tile, row by row.
struct OwnedTile {
  IntTuple shape;
  std::int64_t rows, columns;
  std::vector<std::vector<ThreadValue>> owners;

  [[nodiscard]] const std::vector<ThreadValue>& at(std::int64_t m, std::int64_t n) const {
    return owners[static_cast<std::size_t>(m * columns + n)];
  }
};

// The most elements that one tile may have.
constexpr std::int64_t kMostElements = 1 << 20;

void check_elements(std::int64_t a, std::int64_t b, const std::string& what) {
  if (a < 1 || b < 1) throw UsageError(fmt::format("{} has no elements to draw", what));
  if (b <= kMostElements / a) return;
  throw UsageError(
      fmt::format("{} has {} by {} elements, and a tile has at most {}; use a smaller one", what, a,
                  b, kMostElements));
}

OwnedTile empty_tile(const IntTuple& tile) {
  const std::string text = to_string(tile);
  if (rank(tile) > 2) {
    throw UsageError(fmt::format("--tile is {}, and takes rank 1 or 2, as in (4,8)", text));
  }
  const Dim rows = product(mode(tile, 0));
  const Dim columns = rank(tile) == 2 ? product(mode(tile, 1)) : Dim(1);
  if (!rows.is_known() || !columns.is_known()) {
    throw UsageError(fmt::format("--tile is {}, and takes numbers, as in (4,8)", text));
  }
  check_elements(rows.value(), columns.value(), "the tile " + text);
  OwnedTile result{tile, rows.value(), columns.value(), {}};
  result.owners.resize(static_cast<std::size_t>(result.rows * result.columns));
  return result;
}

void check_thread_value(const Layout& tv) {
  if (rank(tv) != 2) {
    throw UsageError(fmt::format("{} has rank {}; a TV layout has two modes, (thread, value)",
                                 to_string(tv), rank(tv)));
  }
  check_known(tv, "tv");
  check_elements(size(mode(tv, 0)).value(), size(mode(tv, 1)).value(), to_string(tv));
  (void)cosize(tv);  // throws if an index would overflow
}

// Tile coordinates are numbered column by column, as the TV layout's indices are.
OwnedTile owned_tile(const Layout& tv, const std::string& tile_text) {
  check_thread_value(tv);
  const IntTuple shape = parse_int_tuple(tile_text);
  OwnedTile tile = empty_tile(shape);
  const Layout threads = mode(tv, 0), values = mode(tv, 1);
  for (std::int64_t t = 0; t < size(threads).value(); ++t) {
    for (std::int64_t v = 0; v < size(values).value(); ++v) {
      const std::int64_t at = threads(t) + values(v);
      if (at >= tile.rows * tile.columns) {
        throw UsageError(
            fmt::format("thread {} value {} is at index {}, beyond the {} elements of "
                        "--tile {}; give the tile that the TV layout was made for",
                        t, v, at, tile.rows * tile.columns, to_string(shape)));
      }
      const std::int64_t cell = at % tile.rows * tile.columns + at / tile.rows;
      tile.owners[static_cast<std::size_t>(cell)].push_back({t, v});
    }
  }
  return tile;
}

Cell owned_cell(const std::vector<ThreadValue>& owners) {
  if (owners.empty()) return {};
  const auto [thread, value] = owners.front();
  return {.lines = {fmt::format("T{}", thread)},
          .prefix = "V",
          .first = value,
          .last = value,
          .suffix = owners.size() > 1 ? fmt::format("+{}", owners.size() - 1) : "",
          .fill = colour_of(thread)};
}

// `tile` must outlive the table.
Table tv_table(const OwnedTile& tile, const std::string& title) {
  return {.title = title,
          .rows = side_of(mode(tile.shape, 0)),
          .columns = rank(tile.shape) == 2 ? side_of(mode(tile.shape, 1)) : side_of_one(),
          .cell_at = [&tile](std::int64_t m, std::int64_t n) { return owned_cell(tile.at(m, n)); }};
}

// One line for each coordinate of the tile, column by column.
std::string inverse_text(const OwnedTile& tile) {
  std::string text;
  for (std::int64_t n = 0; n < tile.columns; ++n) {
    for (std::int64_t m = 0; m < tile.rows; ++m) {
      text += fmt::format("({},{}) ->", m, n);
      const auto& owners = tile.at(m, n);
      for (const auto& [thread, value] : owners) text += fmt::format(" ({},{})", thread, value);
      text += owners.empty() ? " none\n" : "\n";
    }
  }
  return text;
}

struct TvOptions {
  std::string layout, tile;
  bool inverse = false;
  PictureFiles files;
};

void draw(const TvOptions& options) {
  const Layout tv = parse_layout(options.layout);
  const OwnedTile tile = owned_tile(tv, options.tile);
  if (options.inverse) {
    fmt::print("{}", inverse_text(tile));
    return;
  }
  const std::string title = fmt::format("{} over ({},{})", to_string(tv), tile.rows, tile.columns);
  write_picture(tv_table(tile, title), options.files);
}

}  // namespace

void add_layout_tv(CLI::App& layout) {
  CLI::App* command =
      layout.add_subcommand("tv", "Draw which thread and value owns each element of a tile");
  command->group("Pictures");
  auto options = std::make_shared<TvOptions>();
  command->add_option("TV", options->layout, "(thread,value) to the tile's index, by columns")
      ->required();
  command->add_option("--tile", options->tile, "The tile's shape")->type_name("(M,N)")->required();
  CLI::Option* inverse = command->add_flag(
      "--inverse", options->inverse, "Print (m,n) -> (thread,value) for each element instead");
  add_picture_options(*command, options->files);
  for (const char* name : {"--svg", "--latex", "--all"}) {
    command->get_option(name)->excludes(inverse);
  }
  command->footer(
      "A cell that several pairs own shows the first, and how many more: V0+3. Examples:\n"
      "  tilejit layout tv '((2,4),(2,2)):((8,1),(4,16))' --tile '(4,8)'\n"
      "  tilejit layout tv '((2,4),(2,2)):((8,1),(4,16))' --tile '(4,8)' --svg tv.svg\n"
      "  tilejit layout tv '((2,4),(2,2)):((8,1),(4,16))' --tile '(4,8)' --inverse");
  command->callback([options, &layout] {
    check_no_batch(layout);
    draw(*options);
  });
}

}  // namespace tilejit::cli
