#include "thread_value/thread_value_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "layout/emit.hpp"

namespace tilejit::render {
namespace {

/// An expression for the index in the tile of the layout's element `i`.
std::string index_of(const Layout& layout) {
  const std::string i = "i";
  return layout::emit(layout, {&i, 1}, {.shifts = false});
}

}  // namespace

void ThreadValueWriter::write_behind_formula() {
  write_places();
  write_element();
  write_vector();
}

void ThreadValueWriter::write_places() {
  const Layout threads = mode(tv_.layout, 0), values = mode(tv_.layout, 1);
  line(fmt::format("constexpr int kVectors = {};  // a thread",
                   size(values).value() / plan_.vector));
  line(fmt::format("constexpr int kUnroll = {};  // vectors in flight\n", plan_.unroll));
  line(fmt::format("// Elements of the tile, {}, from its first one on.", to_string(tv_.tiler)));
  line("struct Place {");
  for (const std::size_t m : tv_.modes) line(fmt::format("  int c{};", m));
  line("};\nTILE_DEVICE Place place_of(int index) {\n  Place place;");
  std::int64_t before = 1;
  for (std::size_t i = 0; i < tv_.modes.size(); ++i) {
    const std::int64_t extent = plan::unit_extent(plan_, tv_.modes[i]);
    const bool last = i + 1 == tv_.modes.size();
    line(fmt::format("  place.c{} = index{}{};", tv_.modes[i],
                     before == 1 ? "" : fmt::format(" / {}", before),
                     last ? "" : fmt::format(" % {}", extent)));
    before *= extent;
  }
  line("  return place;\n}");
  line(fmt::format("// {}", to_string(threads)));
  line(fmt::format("TILE_DEVICE Place place_of_thread(int i) {{\n  return place_of({});\n}}",
                   index_of(threads)));
  line(fmt::format("// {}", to_string(values)));
  line(fmt::format("TILE_DEVICE Place place_of_value(int i) {{\n  return place_of({});\n}}\n",
                   index_of(values)));
  line("// Where a tile's first element lies.");
  line("struct Tile {");
  write_members();
  line("};\nTILE_DEVICE Tile tile_at(const Params& p, u32 t) {\n  Tile tile;");
  write_origin();
  line("  return tile;\n}\n");
}

void ThreadValueWriter::write_element() {
  line("// The first element of a vector.");
  line("struct Element {");
  write_members();
  line("\n  TILE_DEVICE Element(const Tile& tile, const Place& thread, const Place& value) {");
  for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
    const bool in_tile = std::ranges::count(tv_.modes, m) != 0;
    line(fmt::format("    c{0} = tile.c{0}{1};", m,
                     in_tile ? fmt::format(" + (thread.c{0} + value.c{0})", m) : ""));
  }
  line("  }");
  std::string inside;
  for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
    if (is_whole(m)) continue;
    inside +=
        fmt::format("{}c{} < {}", inside.empty() ? "" : " && ", m, value_of(plan_.extents[m]));
  }
  line(fmt::format("  TILE_DEVICE bool exists(const Params& p) const {{\n    return {};\n  }}",
                   inside.empty() ? "true" : inside));
  line("};\n");
}

std::string ThreadValueWriter::coordinates(const Code& accesses) const {
  std::string text;
  for (const std::size_t m : accesses.coordinates) {
    text += fmt::format("    const i64 c{0} = at.c{0};\n", m);
  }
  if (!accesses.valid) return text;
  if (!plan_.ragged) return text + "    constexpr int valid = kVector;\n";
  text += fmt::format("    const i64 rest = {} - at.c0;\n", value_of(plan_.extents.front()));
  return text + "    const int valid = rest < kVector ? int(rest) : kVector;\n";
}

void ThreadValueWriter::write_vector() {
  const Code loads = this->loads(), stores = this->stores(),
             places = this->places(asked_by_formula());
  line("// kVector neighbours along mode 0, of every operand.");
  line("struct Vector {");
  write_inputs();
  line("\n  TILE_DEVICE void load(const Params& p, const Element& at) {");
  out_ += coordinates(loads) + loads.text;
  line("  }\n");
  line("  TILE_DEVICE void map(const Params& p, const Element& at) const {");
  write_outputs();
  out_ += coordinates(places + stores) + places.text;
  write_groups();
  out_ += stores.text;
  line("  }\n};");
}

}  // namespace tilejit::render
