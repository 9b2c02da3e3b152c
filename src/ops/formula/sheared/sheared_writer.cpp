#include "sheared/sheared_writer.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sheared/shearing.hpp"

namespace tilejit::render {

using plan::Operand;

bool ShearedWriter::is_loaded(const Operand& operand) const {
  return operand.read && !is_transposed(operand);
}

void ShearedWriter::write_constants() {
  write_block();
  line(fmt::format("constexpr int kColumns = {};  // of a tile, along mode 0", sheared_.columns));
  line(fmt::format("constexpr int kRows = {};  // of a tile, along mode {}\n", sheared_.rows,
                   sheared_.mode));
}

void ShearedWriter::write_behind_formula() {
  write_shared();
  write_tile();
  write_lines();
  write_vector();
}

void ShearedWriter::write_shared() {
  const bool ahead = sheared_.copies == plan_.unroll &&
                     std::ranges::any_of(plan_.operands, [&](const Operand& operand) {
                       return is_loaded(operand);
                     });
  line(fmt::format("constexpr bool kAhead = {};  // vectors are loaded before the lines are there",
                   ahead));
  line(fmt::format("constexpr int kCopies = {};  // of a vector's code\n",
                   ahead ? sheared_.copies : std::min(4, sheared_.copies)));
  line(fmt::format("constexpr int kShear = {};  // elements that rows begin early at most",
                   plan::shear_of(plan_)));
  line("constexpr int kLines = kColumns + kShear;");
  const std::int64_t rows = plan_.extents[sheared_.mode].value();
  const bool several =
      std::ranges::count(plan_.operands, plan::Reach::transposed, &Operand::reach) > 1;
  line(fmt::format("constexpr int kMostRows = {};  // that may exist",
                   several ? std::min<std::int64_t>(sheared_.rows, rows) : sheared_.rows));
  line(fmt::format("constexpr bool kMasks = {};  // hold which lines exist: fewer registers\n",
                   several));
  line("struct Shared {");
  for (const Operand& operand : plan_.operands) {
    if (!is_transposed(operand)) continue;
    line(fmt::format("  TurnedLines<{}, kLines, kRows, kMostRows, kMasks, kThreads> x{};",
                     expr::storage_type(operand.dtype), operand.tensor));
  }
  line("};\n");
}

void ShearedWriter::write_tile() {
  line("// Where a tile's first element lies, if its row is aligned, and how many rows exist.");
  line("struct Tile {");
  write_members();
  line("  int rows;\n};\n");
  line("TILE_DEVICE Tile tile_at(const Params& p, u32 t) {\n  Tile tile;");
  write_origin();
  const std::string extent = value_of(plan_.extents[sheared_.mode]);
  line(fmt::format("  const i64 left = {} - tile.c{};", extent, sheared_.mode));
  line("  tile.rows = left < kRows ? int(left) : kRows;\n  return tile;\n}\n");
}

void ShearedWriter::write_lines() {
  std::string members, loads, puts, ends, any;
  for (const Operand& operand : plan_.operands) {
    if (!is_transposed(operand)) continue;
    const int k = operand.tensor;
    const Code address = address_of(operand);
    line(fmt::format("// The first line of operand {}, which may not exist.", k));
    line(fmt::format("TILE_DEVICE const {}* lines{}(const Params& p, const Tile& tile) {{",
                     expr::storage_type(operand.dtype), k));
    for (const std::size_t m : address.coordinates)
      line(fmt::format("  const i64 c{0} = tile.c{0}{1};", m, m == 0 ? " - kShear" : ""));
    line(fmt::format("  return {};\n}}", address.text));
    const std::string stride = value_of(operand.modes[0][0].stride);
    const std::string last = fmt::format("lines{}(p, tile) + i64(until - 1) * {}", k, stride);
    members += fmt::format(
        "  TurnedLines<{0}, kLines, kRows, kMostRows, kMasks, kThreads>::Loads x{1};\n  int "
        "cut{1};\n",
        expr::storage_type(operand.dtype), k);
    loads += fmt::format(
        "    cut{0} = from < until && ends_in_word({1} + tile.rows, {2}) ? until - 1 : -1;\n"
        "    x{0}.load(lines{0}(p, tile), {3}, from, until, tile.rows, cut{0});\n",
        k, last, end_of(operand), stride);
    puts += fmt::format("    x{0}.put(shared.x{0});\n", k);
    any += fmt::format("{}cut{} >= 0", any.empty() ? "" : " || ", k);
    ends += fmt::format("      if (cut{0} >= 0) shared.x{0}.put_end({1}, cut{0}, tile.rows);\n", k,
                        last);
  }
  line("// The lines of a tile, on their way.\nstruct Lines {");
  out_ += members;
  line("  int from, until;  // of those that exist\n");
  line("  TILE_DEVICE void load(const Params& p, const Tile& tile) {");
  line("    from = tile.c0 == 0 ? kShear : 0;");
  line(fmt::format("    const i64 left = {} - tile.c0 + kShear;", value_of(plan_.extents[0])));
  line("    until = left < kLines ? int(left) : kLines;");
  out_ += loads;
  line("  }\n  TILE_DEVICE void put(const Params& p, const Tile& tile, Shared& shared) const {");
  out_ += puts;
  line(fmt::format("    if ({}) {{\n      __syncthreads();", any));
  out_ += ends;
  line("    }\n  }\n};\n");
}

std::string ShearedWriter::place_of_vector(const Code& accesses) const {
  Code row;
  const Operand& leader = *plan::vector_leader(plan_);
  for (std::size_t m = 1; m < leader.modes.size(); ++m) row += share_of(leader.modes[m], m);
  std::set<std::size_t> asked = row.coordinates;
  asked.insert(accesses.coordinates.begin(), accesses.coordinates.end());
  std::string text;
  for (const std::size_t m : asked) {
    if (m == 0) continue;
    text +=
        fmt::format("    const i64 c{0} = tile.c{0}{1};\n", m, m == sheared_.mode ? " + row" : "");
  }
  text += fmt::format("    const i32 shift = u32({}) % kShear;\n",
                      row.text.empty() ? "0" : row.text.substr(3));
  if (accesses.coordinates.contains(0))
    text += "    const i64 c0 = tile.c0 + column * kVector - shift;\n";
  return text +
         fmt::format(
             "    const i32 v = i32(tile.c0) / kVector + column - shift / kVector;\n"
             "    const u32 exists = v < 0 ? 0 : existing<kVector>(v, shift % kVector, {});\n",
             plan_.extents.front().value());
}

void ShearedWriter::write_vector() {
  const Code loads = this->loads(), stores = this->stores(),
             places = this->places(asked_by_formula());
  line("// kVector neighbours along mode 0, of every operand, of which not all may exist.");
  line("struct Vector {");
  write_inputs();
  line("\n  TILE_DEVICE void load(const Params& p, const Tile& tile, int row, int column) {");
  if (!loads.text.empty()) out_ += place_of_vector(loads) + loads.text;
  line("  }");
  line("  TILE_DEVICE void map(const Params& p, const Tile& tile, const Shared& shared, int row,");
  line("                       int column) const {");
  out_ += place_of_vector(places + stores);
  line("    if (exists == 0) return;\n    const int first = kShear + column * kVector - shift;");
  for (const Operand& operand : plan_.operands) {
    const int k = operand.tensor;
    if (is_transposed(operand)) {
      line(fmt::format("    {} in{};", type_of(operand), k));
      line(fmt::format("    shared.x{0}.get(in{0}, first, row);", k));
    }
    if (operand.written) line(fmt::format("    {} out{};", type_of(operand), k));
  }
  out_ += places.text;
  write_groups();
  out_ += stores.text;
  line("  }\n};\n");
}

}  // namespace tilejit::render
