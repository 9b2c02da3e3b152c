#include "tile/tile_writer.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "layout/emit.hpp"
#include "tile/tiling.hpp"

namespace tilejit::render {

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
  write_cut_elements();
  write_square_store(Of::square);
  write_square_store(Of::cut);
}

bool TileWriter::comes_by_elements(const Operand& operand) const {
  return tile_.ragged && !operand.shifted && plan_.vector > 1 &&
         operand.access_bytes == size_bytes(operand.dtype);
}

bool TileWriter::moves_elements() const {
  return is_cut() && std::ranges::any_of(plan_.operands, [&](const Operand& operand) {
           return crosses(operand, Way::load) && comes_by_elements(operand);
         });
}

void TileWriter::write_cut_elements() {
  line("// Moves lines of a square that is cut off, of operands that come element by element.");
  line("TILE_DEVICE void move_cut(const Params& p, const Tile& tile, Shared& shared, int row,");
  line("                          int column) {");
  std::string loads, stores;
  std::set<std::size_t> modes;
  for (const Operand& operand : plan_.operands) {
    if (!moves_elements() || !crosses(operand, Way::load) || !comes_by_elements(operand)) continue;
    const int k = operand.tensor;
    const std::string_view type = expr::storage_type(operand.dtype);
    const Code source = source_of(operand);
    modes.insert(source.coordinates.begin(), source.coordinates.end());
    loads += fmt::format(
        "    {0} x{1}[kVector];\n#pragma unroll\n"
        "    for (int j = 0; j < kVector; ++j) {{\n"
        "      if (j < left) x{1}[j] = ({2})[j];\n    }}\n",
        type, k, source.text);
    stores += fmt::format(
        "#pragma unroll\n    for (int j = 0; j < kVector; ++j) {{\n"
        "      if (j < left) shared.x{1}.element<{0}>(row * kVector + j, c) = x{1}[j];\n    }}\n",
        type, k);
  }
  if (!loads.empty()) {
    line("  const int left = tile.rows - row * kVector;\n#pragma unroll 1");
    line("  for (int i = 0; i < kVector; ++i) {\n    const int c = column * kVector + i;");
    line("    if (c >= tile.columns) break;");
    out_ += coordinates({.coordinates = modes}, Of::cut) + loads + stores;
    line("  }");
  }
  line("}\n");
}

bool TileWriter::loads_one_way() const {
  return std::ranges::none_of(plan_.operands, [&](const Operand& operand) {
    return crosses(operand, Way::load) && !operand.shifted;
  });
}

bool TileWriter::is_cut() const {
  return plan_.ragged || tile_.ragged;
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
  return is_transposed(operand) ? of_ == Of::cut && tile_.ragged : plan_.ragged;
}

Code TileWriter::cut_load_of(const Operand& operand) const {
  if (operand.shifted || !tile_.ragged) return load_of(operand);
  const Tensor& tensor = plan_.signature.tensors[static_cast<std::size_t>(operand.tensor)];
  const bool known = std::ranges::all_of(tensor.layout.leaves(), [](const Mode& leaf) {
    return leaf.extent.is_known() && leaf.stride.is_known();
  });
  const std::int64_t access = operand.access_bytes / size_bytes(operand.dtype);
  const std::int64_t whole =
      std::gcd(formula::divisor(plan_.extents[tile_.mode], plan_.signature.symbols), plan_.vector);
  const std::string variable = variable_of(operand, true);
  Code code = source_of(operand);
  if (whole < access && known) {
    code.text = fmt::format("    load_before_end<{}, {}>({}, {}, {});\n", access,
                            tail_of(operand, static_cast<int>(access)), variable, code.text,
                            end_of(operand));
  } else {
    code.text = fmt::format("    load_existing<{}>({}, {}, valid);\n", std::min(whole, access),
                            variable, code.text);
    code.valid = true;
  }
  return code;
}

Code TileWriter::transposed_accesses(Way way, Of of) {
  of_ = of;
  Code code;
  for (const Operand& operand : plan_.operands) {
    if (!crosses(operand, way)) continue;
    if (way == Way::store) {
      code += store_of(operand);
    } else if (of != Of::cut) {
      code += load_of(operand);
    } else if (!comes_by_elements(operand)) {
      code += cut_load_of(operand);
    }
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
  line(fmt::format("constexpr bool kRagged = {};", is_cut()));
  line(fmt::format(
      "constexpr bool kOneWay = {};  // squares that are cut off are loaded like others",
      is_cut() && loads_one_way()));
  line(fmt::format("constexpr bool kMovesElements = {};  // of squares that are cut off",
                   moves_elements()));
  line(fmt::format("constexpr bool kTransposedOutputs = {};\n", transposed_outputs));
  line("// Where the vector in a column of vectors and a row of elements lies.");
  const int narrowest = plan::narrowest_transposed(plan_.operands);
  line(layout::emit_callable("VectorLayout", plan::shared_layout(tile_, plan_.vector, narrowest),
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
    if (m == 0) within = of == Of::vector ? " + column * kVector" : " + (column * kVector + i)";
    if (m == 0 && of == Of::cut) within = " + c";
    if (m == tile_.mode) within = of == Of::vector ? " + row" : " + row * kVector";
    text += fmt::format("    const i64 c{0} = tile.c{0}{1};\n", m, within);
  }
  return text;
}

std::string TileWriter::lines_of_square(Way way, Of of) {
  const Code accesses = transposed_accesses(way, of);
  std::string text;
  if (accesses.text.empty()) return text;
  if (accesses.valid) {
    text +=
        "    const int left = tile.rows - row * kVector, valid = left < kVector ? left : "
        "kVector;\n";
  }
  text += "#pragma unroll\n    for (int i = 0; i < kVector; ++i) {\n";
  std::string body;
  if (of == Of::cut) {
    body += "    const int at = column * kVector + i;\n";
    // A line that does not exist is loaded as the last one that does.
    body += way == Way::store ? "    if (at >= tile.columns) break;\n    const int c = at;\n"
                              : "    const int c = at < tile.columns ? at : tile.columns - 1;\n";
  }
  body += coordinates(accesses, of) + accesses.text;
  return text + indented(body, 2) + "    }\n";
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
  out_ += lines_of_square(Way::load, Of::square);
  line("  }");
  line("  TILE_DEVICE void load_cut(const Params& p, const Tile& tile, int row, int column) {");
  if (is_cut()) out_ += lines_of_square(Way::load, Of::cut);
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

void TileWriter::write_square_store(Of of) {
  line(
      fmt::format("TILE_DEVICE void {}(const Params& p, const Tile& tile, Shared& shared, int row,",
                  of == Of::cut ? "store_cut" : "store_square"));
  line("                              int column) {");
  if (of == Of::square || is_cut()) {
    for (const Operand& operand : plan_.operands) {
      if (!crosses(operand, Way::store)) continue;
      line(fmt::format("  {0} x{1}[kVector];\n  shared.x{1}.get_square(row, column, x{1});",
                       type_of(operand), operand.tensor));
    }
    out_ += lines_of_square(Way::store, of);
  }
  line("}\n");
}

}  // namespace tilejit::render
