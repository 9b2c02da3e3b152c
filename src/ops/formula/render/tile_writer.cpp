// The part of plan.cuh that fused_tile.cu asks for.
#include <algorithm>

#include <fmt/format.h>

#include "render/header_writer.hpp"

namespace tilejit::render {

using plan::Operand;

/// Whether every tile has all of its elements along mode `m`.
bool HeaderWriter::is_whole(std::size_t m) const {
  const Dim& extent = plan_.extents[m];
  return extent.is_known() && extent.value() % plan::unit_extent(plan_, m) == 0;
}

void HeaderWriter::write_shared() {
  const auto has = [&](Part part) {
    return std::ranges::any_of(plan_.operands, [&](const Operand& o) { return belongs(o, part); });
  };
  const bool ahead = has(Part::direct_loads) && tile_->copies == plan_.vector * plan_.unroll;
  line(fmt::format(
      "constexpr bool kAhead = {};  // vectors are loaded before the squares are there", ahead));
  line(fmt::format("constexpr int kCopies = {};  // of a vector's code",
                   ahead ? tile_->copies : std::min(2, tile_->copies)));
  line(fmt::format("constexpr bool kWhole = {};  // every tile",
                   is_whole(0) && is_whole(tile_->mode)));
  line(fmt::format("constexpr bool kRaggedColumns = {};", plan_.ragged));
  line(fmt::format("constexpr bool kRagged = {};", plan_.ragged || tile_->ragged));
  line(fmt::format("constexpr bool kCrossedOutputs = {};\n", has(Part::crossed_stores)));
  line("struct Shared {");
  for (const Operand& operand : plan_.operands) {
    if (!is_crossed(operand)) continue;
    line(fmt::format("  CrossTile<{}, kVector, kColumns, kRows> x{};", type_of(operand),
                     operand.tensor));
  }
  line("};\n");
}

std::string HeaderWriter::decode_tile(const std::string& number, const std::string& to) const {
  const std::size_t rank = plan_.extents.size();
  std::string text, from = number;
  for (std::size_t m = 0; m < rank; ++m) {
    const std::int64_t unit = plan::unit_extent(plan_, m);
    const std::string scale = unit == 1 ? "" : fmt::format(" * {}", unit);
    if (m + 1 == rank) return text + fmt::format("  {}.c{} = i64({}){};\n", to, m, from, scale);
    const std::string rest = fmt::format("rest{}", m + 1);
    const auto [count, quotient] = split_at(m, unit, from, "u32");
    text += fmt::format("  const u32 {} = {};\n  {}.c{} = i64({} - {} * {}){};  // {}\n", rest,
                        quotient, to, m, from, rest, count, scale, to_string(plan_.extents[m]));
    from = rest;
  }
  return text;
}

/// Tiles are numbered along mode 0 first.
void HeaderWriter::write_tile() {
  const std::size_t rank = plan_.extents.size();
  line("// Where a tile's first element lies, and how many of its columns and rows exist.");
  line("struct Tile {");
  for (std::size_t m = 0; m < rank; ++m) line(fmt::format("  i64 c{};", m));
  line("  int columns, rows;\n};\n");
  line("TILE_DEVICE Tile tile_at(const Params& p, u32 t) {\n  Tile tile;");
  out_ += decode_tile("t", "tile");
  const auto count = [&](const char* name, const char* most, std::size_t m) {
    if (is_whole(m)) return line(fmt::format("  tile.{} = {};", name, most));
    line(fmt::format("  const i64 {}_left = {} - tile.c{};", name, value_of(plan_.extents[m]), m));
    line(fmt::format("  tile.{0} = {0}_left < {1} ? int({0}_left) : {1};", name, most));
  };
  count("columns", "kColumns", 0);
  count("rows", "kRows", tile_->mode);
  line("  return tile;\n}\n");
}

/// The coordinates that `accesses` ask for, in elements: of a vector, or of line i of a square.
std::string HeaderWriter::tile_coordinates(const std::string& accesses, Part part) const {
  const bool square = part == Part::crossed_loads || part == Part::crossed_stores;
  std::string text;
  for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
    const std::string name = fmt::format("c{}", m);
    if (!mentions(accesses, name)) continue;
    std::string within;
    if (m == 0) within = square ? " + (column * kVector + i)" : " + column * kVector";
    if (m == tile_->mode) within = square ? " + row * kVector" : " + row";
    text += fmt::format("    const i64 {0} = tile.{0}{1};\n", name, within);
  }
  return text;
}

void HeaderWriter::write_square() {
  line("// kVector columns of the crossed inputs, each kVector neighbours along the rows.");
  line("struct Square {");
  for (const Operand& operand : plan_.operands) {
    if (!belongs(operand, Part::crossed_loads)) continue;
    line(fmt::format("  {} x{}[kVector];", type_of(operand), operand.tensor));
  }
  line("\n  TILE_DEVICE void load(const Params& p, const Tile& tile, int row, int column) {");
  const std::string loads = accesses(Part::crossed_loads);
  if (!loads.empty()) {
    line("#pragma unroll\n    for (int i = 0; i < kVector; ++i) {");
    out_ += indented(tile_coordinates(loads, Part::crossed_loads) + loads, 2);
    line("    }");
  }
  line("  }");
  line("  TILE_DEVICE void put(Shared& shared, int row, int column) {");
  for (const Operand& operand : plan_.operands) {
    if (!belongs(operand, Part::crossed_loads)) continue;
    const int k = operand.tensor;
    line(fmt::format("    transpose(x{});\n#pragma unroll", k));
    line("    for (int i = 0; i < kVector; ++i) {");
    line(fmt::format("      shared.x{0}.at(row * kVector + i, column) = x{0}[i];\n    }}", k));
  }
  line("  }\n};\n");
}

void HeaderWriter::write_tile_vector() {
  const std::string loads = accesses(Part::direct_loads), stores = accesses(Part::direct_stores);
  line("// kVector neighbours along mode 0, of every operand; `valid` of them exist.");
  line("struct Vector {");
  for (const Operand& operand : plan_.operands) {
    if (!belongs(operand, Part::direct_loads)) continue;
    line(fmt::format("  {} in{};", type_of(operand), operand.tensor));
  }
  line("\n  TILE_DEVICE void load(const Params& p, const Tile& tile, int row, int column,");
  line("                        int valid) {");
  out_ += tile_coordinates(loads, Part::direct_loads) + loads;
  line("  }");
  line("  TILE_DEVICE void map(const Params& p, const Tile& tile, Shared& shared, int row,");
  line("                       int column, int valid) const {");
  for (const Operand& operand : plan_.operands) {
    const int k = operand.tensor;
    if (belongs(operand, Part::crossed_loads)) {
      line(fmt::format("    const {} in{} = shared.x{}.at(row, column);", type_of(operand), k, k));
    }
    if (operand.written) line(fmt::format("    {} out{};", type_of(operand), k));
  }
  const std::string places = this->places(asked_by_formula());
  out_ += tile_coordinates(places + stores, Part::direct_stores) + places;
  write_groups();
  out_ += stores;
  for (const Operand& operand : plan_.operands) {
    if (!belongs(operand, Part::crossed_stores)) continue;
    line(fmt::format("    shared.x{0}.at(row, column) = out{0};", operand.tensor));
  }
  line("  }\n};\n");
}

void HeaderWriter::write_square_store() {
  line("TILE_DEVICE void store_square(const Params& p, const Tile& tile, Shared& shared, int row,");
  line("                              int column) {");
  const std::string stores = accesses(Part::crossed_stores);
  if (!stores.empty()) {
    for (const Operand& operand : plan_.operands) {
      if (!belongs(operand, Part::crossed_stores)) continue;
      const int k = operand.tensor;
      line(fmt::format("  {} x{}[kVector];\n#pragma unroll", type_of(operand), k));
      line("  for (int i = 0; i < kVector; ++i) {");
      line(fmt::format("    x{0}[i] = shared.x{0}.at(row * kVector + i, column);\n  }}", k));
      line(fmt::format("  transpose(x{});", k));
    }
    line("#pragma unroll\n  for (int i = 0; i < kVector; ++i) {");
    out_ += tile_coordinates(stores, Part::crossed_stores) + stores;
    line("  }");
  }
  line("}\n");
}

/// What exists of a square at the edge, between global and shared memory.
void HeaderWriter::write_elements(Part part) {
  const bool loads = part == Part::crossed_loads;
  line(
      fmt::format("TILE_DEVICE void {}_elements(const Params& p, const Tile& tile, Shared& shared,",
                  loads ? "load" : "store"));
  line("                               int row, int column) {");
  std::string moves;
  for (const Operand& operand : plan_.operands) {
    if (!belongs(operand, part)) continue;
    const std::string global =
        fmt::format("p.t{}[{}]", operand.tensor, offset_of(operand).substr(3));
    const std::string shared =
        fmt::format("shared.x{}.element<{}>(r, c)", operand.tensor, storage_type(operand.dtype));
    moves += fmt::format("    {} = {};\n", loads ? shared : global, loads ? global : shared);
  }
  if (!moves.empty()) {
    line("#pragma unroll 1\n  for (int e = 0; e < kVector * kVector; ++e) {");
    line("    const int r = row * kVector + e % kVector, c = column * kVector + e / kVector;");
    line("    if (r >= tile.rows || c >= tile.columns) continue;");
    for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
      const char* within = m == 0 ? " + c" : m == tile_->mode ? " + r" : "";
      line(fmt::format("    const i64 c{0} = tile.c{0}{1};", m, within));
    }
    out_ += moves;
    line("  }");
  }
  line("}");
}

}  // namespace tilejit::render
