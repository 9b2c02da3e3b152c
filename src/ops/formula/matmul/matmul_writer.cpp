#include "matmul/matmul_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "atoms/emit_mma.hpp"
#include "layout/emit.hpp"
#include "matmul/shared_layout.hpp"

namespace tilejit::render {
namespace {

using plan::Operand;
using plan::OperandSource;

std::string_view truth(bool value) {
  return value ? "true" : "false";
}

}  // namespace

std::string index_text(const std::vector<Mode>& leaves, const std::string& at,
                       const std::function<std::string(const Dim&)>& value_of) {
  const layout::IndexStyle style{.dim = value_of, .shifts = false, .leaf_by_leaf = true};
  const std::string index = layout::emit(leaves, at, style);
  return index.empty() ? "0" : index;
}

std::vector<bool> MatmulWriter::values_behind(const expr::Program& program,
                                              const std::vector<expr::NodeId>& roots) {
  std::vector<bool> nodes(program.nodes.size(), false);
  for (const expr::NodeId root : roots) nodes[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const expr::Op op = program.nodes[i].op;
    if (!nodes[i] || op == expr::Op::matmul || expr::is_reduction(op)) continue;
    for (const expr::NodeId arg : program.nodes[i].args) {
      if (arg != expr::kNoNode) nodes[static_cast<std::size_t>(arg)] = true;
    }
  }
  return nodes;
}

std::string MatmulWriter::without_namespace(const std::string& text) {
  const std::size_t begin = text.find('\n') + 1, end = text.rfind("}  // namespace");
  return text.substr(begin, end - begin);
}

void MatmulWriter::write_constants() {
  write_block();
  line(fmt::format("constexpr int kBlocks = {};  // on a multiprocessor, at least\n",
                   product_.tile.blocks));
}

bool MatmulWriter::is_loaded(const Operand& operand) const {
  return operand.read && !product_.multiplies(operand.tensor);
}

/// The product's operands, and what they are computed from, are no values of an element.
expr::Slice MatmulWriter::formula() const {
  expr::Slice slice = HeaderWriter::formula();
  std::erase_if(slice.stores,
                [&](const expr::Store& store) { return product_.reduces_to(store.tensor); });
  std::vector<expr::NodeId> roots;
  for (const expr::Store& store : slice.stores) roots.push_back(store.value);
  slice.nodes = values_behind(plan_.program, roots);
  return slice;
}

std::string MatmulWriter::given(expr::NodeId id) const {
  if (id == product_.node) return "sum";
  if (id == product_.statistic) return "row";
  return product_.second && id == product_.second->node ? "sum1" : HeaderWriter::given(id);
}

std::vector<std::string> MatmulWriter::sums() const {
  std::vector<std::string> names = {"sum"};
  if (product_.second) names.emplace_back("sum1");
  return names;
}

std::string MatmulWriter::own_parameters(bool) const {
  std::string text;
  for (const std::string& sum : sums())
    text += fmt::format(", {} {}", expr::compute_type(product_.accumulator), sum);
  return text + (product_.statistic != expr::kNoNode ? ", float row" : "");
}

std::string MatmulWriter::own_arguments(int i) const {
  std::string text;
  for (const std::string& sum : sums()) text += fmt::format(", {}.element[e + {}]", sum, i);
  return text + (product_.statistic != expr::kNoNode ? ", row" : "");
}

std::string MatmulWriter::warps() const {
  return fmt::format("{}, {}", product_.tile.warps_m, product_.tile.warps_n);
}

void MatmulWriter::write_behind_formula() {
  write_tiles();
  write_entry('A', 0, product_.a);
  write_entry('B', 1, product_.b);
  write_source('A', product_.a, extent_m(), product_.tile.m);
  write_source('B', product_.b, extent_n(), product_.tile.n);
  write_places();
  write_vector();
  write_work();
}

std::string MatmulWriter::index_of(const std::vector<Mode>& leaves, const std::string& at) const {
  return index_text(leaves, at, [this](const Dim& dim) { return value_of(dim); });
}

void MatmulWriter::write_entry(char letter, int tensor, const OperandSource& source) {
  if (!source.is_computed()) return;
  const std::string_view storage = expr::storage_type(source.dtype);
  const std::string type = computed_type(source);
  line("// What becomes of an element on its way to shared memory.");
  line(fmt::format("struct Entry{} {{\n  using Type = {};", letter, type));
  line("  static constexpr bool kChanges = true, kKeepsZero = false;");
  line(fmt::format("  static TILE_DEVICE Type from(const Params& p, {} x) {{",
                   expr::storage_type(source.stored)));
  line(fmt::format("    const {} t{} = to_compute(x);", expr::compute_type(source.stored), tensor));
  line(fmt::format("    {} y{};", expr::compute_type(source.dtype), tensor));
  write_values({.nodes = values_behind(plan_.program, {source.value}),
                .stores = {{.tensor = tensor, .value = source.value}},
                .given = [this](expr::NodeId id) { return HeaderWriter::given(id); }},
               4);
  const std::string stored = fmt::format("store_as<{}>(y{})", storage, tensor);
  line(fmt::format("    return {};\n  }}\n}};",
                   type == storage ? stored : fmt::format("{}(to_compute({}))", type, stored)));
}

std::string MatmulWriter::entry_of(char letter, const OperandSource& source) const {
  return source.is_computed() ? fmt::format("Entry{}", letter) : entry_type(source);
}

void MatmulWriter::write_source(char letter, const OperandSource& source, const Dim& rows,
                                int tile_rows) {
  const auto whole = [](const Dim& extent, int tile) {
    return extent.is_known() && extent.value() % tile == 0;
  };
  line(fmt::format("struct Source{} {{", letter));
  line(fmt::format("  using Element = {};", expr::storage_type(source.stored)));
  line(fmt::format("  static constexpr int kRun = {};", source.run));
  line(fmt::format("  static constexpr Along kAlong = Along::{};",
                   source.major == atoms::Major::k ? "columns" : "rows"));
  line(fmt::format("  static constexpr bool kLinear = {}, kWholeRows = {}, kWholeK = {};",
                   truth(source.is_linear()), truth(whole(rows, tile_rows)),
                   truth(whole(product_.k, product_.tile.k))));
  const auto function = [&](std::string_view name, std::string_view parameters,
                            const std::string& value) {
    line(fmt::format("  static TILE_DEVICE i64 {}(const Params& p{}) {{\n    return {};\n  }}",
                     name, parameters, value));
  };
  if (source.is_linear()) {
    function("row_stride", "", source.outer.empty() ? "0" : value_of(source.outer[0].stride));
    function("column_stride", "", source.inner.empty() ? "0" : value_of(source.inner[0].stride));
  } else {
    function("place", ", i64 row, i64 column",
             index_of(source.outer, "row") + " + " + index_of(source.inner, "column"));
  }
  line("};");
}

void MatmulWriter::write_places() {
  const std::size_t rank = plan_.extents.size();
  line("\n// Where a tile's first element lies.");
  line("struct Tile {");
  line("  i64 m, n;");
  write_members();
  line(fmt::format("}};\nTILE_DEVICE Tile find_tile(const Params& p, u32 t{}) {{\n  Tile tile;",
                   takes_rank() ? ", u32 row, u32 column = 0" : ""));
  const int rows = cluster(), columns = beside();
  for (const auto& [name, extent, per] : {std::tuple("m", extent_m(), product_.tile.m * rows),
                                          std::tuple("n", extent_n(), product_.tile.n * columns)}) {
    line(fmt::format("  const u32 tiles_{} = u32(({} + {}) / {});", name, value_of(extent), per - 1,
                     per));
  }
  line("  const u32 batch = t / (tiles_m * tiles_n);");
  line(fmt::format(
      "  const GridTile at = grid_tile<{}>(t - batch * (tiles_m * tiles_n), tiles_m, tiles_n);",
      group_of_tiles()));
  const std::string row = rows > 1 ? fmt::format("at.m * {} + row", rows) : "at.m";
  const std::string column = columns > 1 ? fmt::format("at.n * {} + column", columns) : "at.n";
  line(fmt::format("  tile.m = i64({}) * {};\n  tile.n = i64({}) * {};", row, product_.tile.m,
                   column, product_.tile.n));
  line(product_.along_m ? "  tile.c0 = tile.m;\n  tile.c1 = tile.n;"
                        : "  tile.c0 = tile.n;\n  tile.c1 = tile.m;");
  std::string from = "batch";
  for (std::size_t m = 2; m < rank; ++m) {
    if (m + 1 == rank) {
      line(fmt::format("  tile.c{} = i64({});", m, from));
      break;
    }
    const std::string rest = fmt::format("rest{}", m + 1);
    const auto [count, quotient] = split_at(m, 1, from, "u32");
    line(fmt::format("  const u32 {} = {};\n  tile.c{} = i64({} - {} * {});", rest, quotient, m,
                     from, rest, count));
    from = rest;
  }
  line("  return tile;\n}\n");
  line("// The first element of a vector.");
  line("struct ResultPlace {");
  for (std::size_t m = 0; m < rank; ++m) line(fmt::format("  i64 c{};", m));
  line("\n  TILE_DEVICE ResultPlace(const Tile& tile, i32 row, i32 column) {");
  line(fmt::format("    c0 = tile.c0 + {};\n    c1 = tile.c1 + {};",
                   product_.along_m ? "row" : "column", product_.along_m ? "column" : "row"));
  for (std::size_t m = 2; m < rank; ++m) line(fmt::format("    c{0} = tile.c{0};", m));
  std::string inside;
  for (std::size_t m = 0; m < 2; ++m) {
    if (is_whole(m)) continue;
    inside +=
        fmt::format("{}c{} < {}", inside.empty() ? "" : " && ", m, value_of(plan_.extents[m]));
  }
  line(
      fmt::format("  }}\n  TILE_DEVICE bool exists(const Params& p) const {{\n    return {};\n  }}",
                  inside.empty() ? "true" : inside));
  if (takes_rank()) {
    line(fmt::format("  TILE_DEVICE bool is_in_row(const Params& p) const {{\n    return {};\n  }}",
                     is_whole(0) ? "true" : "c0 < " + value_of(plan_.extents[0])));
  }
  line("};\n");
}

std::string MatmulWriter::coordinates(const Code& accesses) const {
  std::string text;
  for (const std::size_t m : accesses.coordinates) {
    text += fmt::format("    const i64 c{0} = at.c{0};\n", m);
  }
  if (!accesses.valid) return text;
  if (!plan_.ragged) return text + "    constexpr int valid = kVector;\n";
  text += fmt::format("    const i64 rest = {} - at.c0;\n", value_of(plan_.extents.front()));
  return text + "    const int valid = rest < kVector ? int(rest) : kVector;\n";
}

void MatmulWriter::write_sums_by_vectors(int panel, bool along_m) {
  constexpr std::int64_t kLongFormula = 64;            // longer ones take one vector after another
  const int vectors = 16 * panel / plan_.vector / 32;  // of a lane and a panel
  const bool is_long = expr::emitted_weight(plan_.program, formula()) > kLongFormula;
  line(fmt::format("  static constexpr int kVector = {}, kPanel = {}, kUnroll = {};", plan_.vector,
                   panel, is_long ? 1 : std::clamp(vectors, 1, 4)));
  line(fmt::format("  static constexpr bool kAlongM = {};", along_m));
  line("  using Vector = ResultVector;\n  using Finish = SumsByVectors<Work>;\n");
}

void MatmulWriter::write_vector() {
  const Code loads = this->loads(), stores = this->stores(),
             places = this->places(asked_by_formula());
  const std::string_view sum = expr::compute_type(product_.accumulator);
  line("// kVector neighbours along mode 0, of every operand, and of the sums in shared memory.");
  line("struct ResultVector {");
  write_inputs();
  line("\n  TILE_DEVICE void load(const Params& p, const ResultPlace& at) {");
  out_ += coordinates(loads) + loads.text;
  line("  }\n");
  line(fmt::format(
      "  TILE_DEVICE void map(const Params& p, const ResultPlace& at, const {}* sums) const {{",
      sum));
  line(fmt::format("    Contiguous<{}, kVector> sum;\n    sum.load(sums);", sum));
  if (product_.second) {
    line(fmt::format("    Contiguous<{}, kVector> sum1;\n    sum1.load(sums + {});", sum,
                     sums_of_panel()));
  }
  write_outputs();
  out_ += coordinates(places + stores) + places.text;
  write_groups();
  out_ += stores.text;
  line("  }\n};\n");
}

void MatmulWriter::write_matrix(char letter, int tensor, const OperandSource& source) {
  line(
      fmt::format("  static TILE_DEVICE const Source{}::Element* matrix_{}(const Params& p, const "
                  "Tile& tile) {{",
                  letter, letter == 'A' ? 'a' : 'b'));
  std::string text;
  for (std::size_t i = 0; i < source.batch.size(); ++i) {
    const std::string at = fmt::format("tile.c{}", 1 + source.batch.size() - i);
    const std::string index = index_of(source.batch[i], at);
    if (index != "0") text += " + " + index;
  }
  line(fmt::format("    return p.t{}{};\n  }}", tensor, text));
}

void MatmulWriter::write_work() {
  const plan::TileShape& tile = product_.tile;
  line("// What tile/matmul.cuh does.");
  line("struct Work {");
  line(fmt::format("  static constexpr int kM = {}, kN = {}, kK = {}, kStages = {};", tile.m,
                   tile.n, tile.k, tile.stages));
  line(fmt::format("  static constexpr int kSplits = {}, kPasses = {}, kVector = {};",
                   product_.splits, product_.passes, plan_.vector));
  if (product_.splits > 1) {
    line(fmt::format("  static constexpr int kCounterBytes = {};",
                     plan::counter_bytes(plan_, product_)));
  }
  line(fmt::format("  static constexpr bool kAlongM = {};", truth(product_.along_m)));
  line("  using SharedA = LayoutA;\n  using SharedB = LayoutB;");
  line(fmt::format("  using Product = {};", product_type()));
  line(fmt::format("  using LoaderA = OperandLoader<SourceA, {}, LayoutA, kM, kK, kThreads>;",
                   entry_of('A', product_.a)));
  line(fmt::format("  using LoaderB = OperandLoader<SourceB, {}, LayoutB, kN, kK, kThreads>;",
                   entry_of('B', product_.b)));
  line("  using Place = ResultPlace;\n  using Vector = ResultVector;\n");
  for (const auto& [name, extent] :
       {std::pair('m', extent_m()), std::pair('n', extent_n()), std::pair('k', product_.k)}) {
    line(fmt::format("  static TILE_DEVICE i64 extent_{}(const Params& p) {{\n    return {};\n  }}",
                     name, value_of(extent)));
  }
  line("  static TILE_DEVICE Tile tile_at(const Params& p, u32 number) {");
  line("    return find_tile(p, number);\n  }");
  write_matrix('A', 0, product_.a);
  write_matrix('B', 1, product_.b);
  line("};");
}

std::vector<std::string_view> MatmulMmaWriter::own_headers() const {
  return {"contiguous", "wide", "dependent", "matmul", "block_product"};
}

void MatmulMmaWriter::write_tiles() {
  out_ += without_namespace(atoms::emit(mma_.atom, "Mma"));
  for (const auto& [name, operand] :
       {std::pair("LayoutA", atoms::Operand::a), std::pair("LayoutB", atoms::Operand::b)}) {
    out_ += layout::emit_callable(name, plan::shared_layout(mma_, operand), layout::IndexBits::b32);
  }
}

std::string MatmulMmaWriter::product_type() const {
  return fmt::format("BlockProduct<Mma, LayoutA, LayoutB, kM, kN, kK, {}{}>", warps(),
                     mma_.atom.a == tf32 ? ", RoundedToTf32" : "");
}

std::string MatmulMmaWriter::entry_type(const OperandSource& source) const {
  return fmt::format("Unchanged<{}>", expr::storage_type(source.dtype));
}

std::string MatmulMmaWriter::computed_type(const OperandSource& source) const {
  return std::string(expr::storage_type(source.dtype));
}

std::vector<std::string_view> MatmulSimtWriter::own_headers() const {
  return {"contiguous", "wide", "dependent", "matmul", "block_product_fma"};
}

void MatmulSimtWriter::write_tiles() {
  for (const auto& [name, operand] :
       {std::pair("LayoutA", atoms::Operand::a), std::pair("LayoutB", atoms::Operand::b)}) {
    out_ +=
        layout::emit_callable(name, plan::shared_layout(simt_, operand), layout::IndexBits::b32);
  }
}

std::string MatmulSimtWriter::product_type() const {
  const std::string_view sum = expr::compute_type(simt_.accumulator);
  return fmt::format("BlockProductFma<{0}, {0}, {0}, LayoutA, LayoutB, kM, kN, kK, {1}>", sum,
                     warps());
}

std::string MatmulSimtWriter::computed_type(const OperandSource&) const {
  return std::string(expr::compute_type(simt_.accumulator));
}

std::string MatmulSimtWriter::entry_type(const OperandSource& source) const {
  const std::string_view sum = expr::compute_type(simt_.accumulator);
  if (source.dtype == simt_.accumulator) return fmt::format("Unchanged<{}>", sum);
  return fmt::format("{}<{}>", source.dtype == tf32 ? "Rounded" : "Converted", sum);
}

}  // namespace tilejit::render
