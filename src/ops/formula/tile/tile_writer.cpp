#include "tile/tile_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "layout/emit.hpp"
#include "tile/tiling.hpp"

namespace tilejit::render {
namespace {

bool is_transposed(const plan::Operand& operand) {
  return operand.reach == plan::Reach::transposed;
}

}  // namespace

using plan::Operand;

void TileWriter::write_constants() {
  write_block();
  line(fmt::format("constexpr int kColumns = {};  // of a tile, along mode 0", tile_.columns));
  line(fmt::format("constexpr int kRows = {};  // of a tile, along mode {}\n", tile_.rows,
                   tile_.mode));
}

void TileWriter::write_behind_formula() {
  write_shared();
  write_tile();
  write_square();
  write_vector();
  write_square_store();
  write_elements(Way::load);
  write_elements(Way::store);
}

bool TileWriter::is_loaded(const Operand& operand) const {
  return operand.read && !is_transposed(operand);
}

bool TileWriter::is_stored(const Operand& operand) const {
  return operand.written && !is_transposed(operand);
}

bool TileWriter::crosses(const Operand& operand, Way way) const {
  return is_transposed(operand) && (way == Way::load ? operand.read : operand.written);
}

std::string TileWriter::variable_of(const Operand& operand, bool loads) const {
  if (is_transposed(operand)) {
    return fmt::format("{}{}[i]", loads && operand.shifted ? "raw" : "x", operand.tensor);
  }
  return HeaderWriter::variable_of(operand, loads);
}

bool TileWriter::may_be_partial(const Operand& operand) const {
  return plan_.ragged && !is_transposed(operand);  // squares are whole
}

Code TileWriter::transposed_accesses(Way way) const {
  Code code;
  for (const Operand& operand : plan_.operands) {
    if (crosses(operand, way)) code += way == Way::load ? load_of(operand) : store_of(operand);
  }
  return code;
}

void TileWriter::write_shared() {
  const bool ahead = tile_.copies == plan_.vector * plan_.unroll &&
                     std::ranges::any_of(plan_.operands, [&](const Operand& operand) {
                       return is_loaded(operand);
                     });
  const bool transposed_outputs = std::ranges::any_of(
      plan_.operands, [&](const Operand& operand) { return crosses(operand, Way::store); });
  line(fmt::format(
      "constexpr bool kAhead = {};  // vectors are loaded before the squares are there", ahead));
  line(fmt::format("constexpr int kCopies = {};  // of a vector's code",
                   ahead ? tile_.copies : std::min(2, tile_.copies)));
  line(fmt::format("constexpr bool kWhole = {};  // every tile",
                   is_whole(0) && is_whole(tile_.mode)));
  line(fmt::format("constexpr bool kRaggedColumns = {};", plan_.ragged));
  line(fmt::format("constexpr bool kRagged = {};", plan_.ragged || tile_.ragged));
  line(fmt::format("constexpr bool kTransposedOutputs = {};\n", transposed_outputs));
  line("// Where the vector in a column of vectors and a row of elements lies.");
  line(layout::emit_callable("VectorLayout", plan::shared_layout(tile_, plan_.vector),
                             layout::IndexBits::b32));
  line("struct Shared {");
  for (const Operand& operand : plan_.operands) {
    if (!is_transposed(operand)) continue;
    line(fmt::format("  SharedTile<{}, kVector, VectorLayout> x{};", type_of(operand),
                     operand.tensor));
  }
  line("};\n");
}

void TileWriter::write_tile() {
  line("// Where a tile's first element lies, and how many of its columns and rows exist.");
  line("struct Tile {");
  write_members();
  line("  int columns, rows;\n};\n");
  line("TILE_DEVICE Tile tile_at(const Params& p, u32 t) {\n  Tile tile;");
  write_origin();
  const auto count = [&](const char* name, const char* most, std::size_t m) {
    if (is_whole(m)) return line(fmt::format("  tile.{} = {};", name, most));
    line(fmt::format("  const i64 {}_left = {} - tile.c{};", name, value_of(plan_.extents[m]), m));
    line(fmt::format("  tile.{0} = {0}_left < {1} ? int({0}_left) : {1};", name, most));
  };
  count("columns", "kColumns", 0);
  count("rows", "kRows", tile_.mode);
  line("  return tile;\n}\n");
}

std::string TileWriter::coordinates(const Code& accesses, Of of) const {
  std::string text;
  for (const std::size_t m : accesses.coordinates) {
    std::string within;
    if (m == 0) within = of == Of::square ? " + (column * kVector + i)" : " + column * kVector";
    if (m == tile_.mode) within = of == Of::square ? " + row * kVector" : " + row";
    text += fmt::format("    const i64 c{0} = tile.c{0}{1};\n", m, within);
  }
  return text;
}

void TileWriter::write_square() {
  line("// kVector columns of the transposed inputs, each kVector neighbours along the rows.");
  line("struct Square {");
  for (const Operand& operand : plan_.operands) {
    if (!crosses(operand, Way::load)) continue;
    line(fmt::format("  {} {}{}[kVector];", loaded_type(operand), operand.shifted ? "raw" : "x",
                     operand.tensor));
  }
  line("\n  TILE_DEVICE void load(const Params& p, const Tile& tile, int row, int column) {");
  const Code loads = transposed_accesses(Way::load);
  if (!loads.text.empty()) {
    line("#pragma unroll\n    for (int i = 0; i < kVector; ++i) {");
    out_ += indented(coordinates(loads, Of::square) + loads.text, 2);
    line("    }");
  }
  line("  }");
  line("  TILE_DEVICE void put(Shared& shared, int row, int column) {");
  for (const Operand& operand : plan_.operands) {
    if (!crosses(operand, Way::load)) continue;
    const int k = operand.tensor;
    if (operand.shifted) {
      line(fmt::format("    {} x{}[kVector];\n#pragma unroll", type_of(operand), k));
      line(fmt::format("    for (int i = 0; i < kVector; ++i) x{0}[i] = raw{0}[i].get();", k));
    }
    line(fmt::format("    shared.x{0}.put_square(row, column, x{0});", k));
  }
  line("  }\n};\n");
}

void TileWriter::write_vector() {
  const Code loads = this->loads(), stores = this->stores(),
             places = this->places(asked_by_formula());
  line("// kVector neighbours along mode 0, of every operand; `valid` of them exist.");
  line("struct Vector {");
  write_inputs();
  line("\n  TILE_DEVICE void load(const Params& p, const Tile& tile, int row, int column,");
  line("                        int valid) {");
  out_ += coordinates(loads, Of::vector) + loads.text;
  line("  }");
  line("  TILE_DEVICE void map(const Params& p, const Tile& tile, Shared& shared, int row,");
  line("                       int column, int valid) const {");
  for (const Operand& operand : plan_.operands) {
    const int k = operand.tensor;
    if (crosses(operand, Way::load)) {
      line(fmt::format("    const {} in{} = shared.x{}.at(row, column);", type_of(operand), k, k));
    }
    if (operand.written) line(fmt::format("    {} out{};", type_of(operand), k));
  }
  out_ += coordinates(places + stores, Of::vector) + places.text;
  write_groups();
  out_ += stores.text;
  for (const Operand& operand : plan_.operands) {
    if (!crosses(operand, Way::store)) continue;
    line(fmt::format("    shared.x{0}.at(row, column) = out{0};", operand.tensor));
  }
  line("  }\n};\n");
}

void TileWriter::write_square_store() {
  line("TILE_DEVICE void store_square(const Params& p, const Tile& tile, Shared& shared, int row,");
  line("                              int column) {");
  const Code stores = transposed_accesses(Way::store);
  if (!stores.text.empty()) {
    for (const Operand& operand : plan_.operands) {
      if (!crosses(operand, Way::store)) continue;
      const int k = operand.tensor;
      line(fmt::format("  {0} x{1}[kVector];\n  shared.x{1}.get_square(row, column, x{1});",
                       type_of(operand), k));
    }
    line("#pragma unroll\n  for (int i = 0; i < kVector; ++i) {");
    out_ += coordinates(stores, Of::square) + stores.text;
    line("  }");
  }
  line("}\n");
}

void TileWriter::write_elements(Way way) {
  const bool loads = way == Way::load;
  line(
      fmt::format("TILE_DEVICE void {}_elements(const Params& p, const Tile& tile, Shared& shared,",
                  loads ? "load" : "store"));
  line("                               int row, int column) {");
  std::string moves;
  for (const Operand& operand : plan_.operands) {
    if (!crosses(operand, way)) continue;
    const std::string global =
        fmt::format("p.t{}[{}]", operand.tensor, offset_of(operand.modes).text.substr(3));
    const std::string shared = fmt::format("shared.x{}.element<{}>(r, c)", operand.tensor,
                                           expr::storage_type(operand.dtype));
    moves += fmt::format("    {} = {};\n", loads ? shared : global, loads ? global : shared);
  }
  if (!moves.empty()) {
    line("#pragma unroll 1\n  for (int e = 0; e < kVector * kVector; ++e) {");
    line("    const int r = row * kVector + e % kVector, c = column * kVector + e / kVector;");
    line("    if (r >= tile.rows || c >= tile.columns) continue;");
    for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
      const char* within = m == 0 ? " + c" : m == tile_.mode ? " + r" : "";
      line(fmt::format("    const i64 c{0} = tile.c{0}{1};", m, within));
    }
    out_ += moves;
    line("  }");
  }
  line("}");
}

}  // namespace tilejit::render
