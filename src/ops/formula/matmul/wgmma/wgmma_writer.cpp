#include "wgmma/wgmma_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "atoms/emit_mma.hpp"
#include "render/combination.hpp"

namespace tilejit::render {
namespace {

constexpr int kRowsOfInstruction = 64;
constexpr int kBatchesOfStage = 2;  // if A goes through registers
constexpr int kTilesOfGroup = 16;   // rows of tiles that are taken column by column

}  // namespace

std::vector<std::string_view> MatmulWgmmaWriter::own_headers() const {
  return {"contiguous", "wide", "warpgroup_matmul",
          wgmma_.by_words() ? "sums_by_words" : "sums_by_vectors"};
}

void MatmulWgmmaWriter::write_constants() {
  write_block();
  line(fmt::format("constexpr int kBlocks = {};  // of a cluster\n", wgmma_.blocks_of_cluster()));
}

int MatmulWgmmaWriter::group_of_tiles() const {
  return kTilesOfGroup / wgmma_.cluster;
}

void MatmulWgmmaWriter::write_statistic() {
  const expr::Node& node = plan_.program.nodes[static_cast<std::size_t>(wgmma_.statistic)];
  const bool adds = node.op == expr::Op::reduce_sum;
  const std::string_view function = node.op == expr::Op::reduce_max ? "fmaxf" : "fminf";
  line("// Reduced along the rows of A.");
  line(fmt::format("struct RowStatistic {{\n  using Element = {};",
                   expr::storage_type(wgmma_.a.dtype)));
  line(fmt::format("  static TILE_DEVICE float start() {{\n    return {};\n  }}", identity(node)));
  line(fmt::format("  static TILE_DEVICE float combine(float a, float b) {{\n    return {};\n  }}",
                   adds ? "a + b" : fmt::format("{}(a, b)", function)));
  line("  static TILE_DEVICE float combine(const Params& p, float all, float t0) {\n    float y0;");
  write_values({.nodes = values_behind(plan_.program, {node.args[0]}),
                .stores = {{.tensor = 0, .value = node.args[0]}},
                .given = [this](expr::NodeId id) { return HeaderWriter::given(id); }},
               4);
  line("    return combine(all, y0);\n  }\n};\n");
}

/// What is reduced along N: a function that adds an element, and a struct of what all tiles do.
void MatmulWgmmaWriter::write_reductions() {
  const auto count = wgmma_.reductions.size();
  expr::Slice slice{
      .nodes = {}, .stores = {}, .given = [this](expr::NodeId id) { return given(id); }};
  for (std::size_t r = 0; r < count; ++r)
    slice.stores.push_back({.tensor = static_cast<int>(r), .value = reduced(r).args[0]});
  slice.nodes = nodes_of_reductions();
  line("// Adds an element to what is reduced along n.");
  line(fmt::format("TILE_DEVICE void reduce_element(float (&all)[{}], {}) {{", count,
                   element_parameters(asked_by(slice.nodes), false)));
  for (std::size_t r = 0; r < count; ++r) line(fmt::format("  float y{};", r));
  write_values(slice, 2);
  const auto combine = [&](const std::string& other, const std::string& indent) {
    for (std::size_t r = 0; r < count; ++r) {
      line(fmt::format("{}all[{}] = {};", indent, r,
                       expr::emit_combination(reduced(r), fmt::format("all[{}]", r),
                                              fmt::format(fmt::runtime(other), r))));
    }
  };
  combine("y{}", "  ");
  line("}\n");
  line("// Partial results of a row of a tile.");
  line("struct ResultReduced {");
  line(fmt::format("  static TILE_DEVICE void start(float (&all)[{}]) {{", count));
  for (std::size_t r = 0; r < count; ++r)
    line(fmt::format("    all[{}] = {};", r, identity(reduced(r))));
  line(
      fmt::format("  }}\n  static TILE_DEVICE void combine(float (&all)[{0}], const float "
                  "(&other)[{0}]) {{",
                  count));
  combine("other[{}]", "    ");
  line("  }");
  line(
      fmt::format("  static TILE_DEVICE void store(const Params& p, const Tile& tile, i32 row, "
                  "const float (&all)[{}]) {{",
                  count));
  line("    const ResultPlace at(tile, row, 0);");
  // Clusters may have tiles beyond the last one.
  line("    if (!at.exists(p)) return;");
  std::string rows;
  for (std::size_t m = plan_.extents.size(); m-- > 1;) {
    rows = rows.empty() ? fmt::format("at.c{}", m)
                        : fmt::format("({} * {} + at.c{})", rows, value_of(plan_.extents[m]), m);
  }
  const std::int64_t tiles = plan::tiles_along_n(plan_, wgmma_);
  line(fmt::format("    const i64 place = {} * {} + at.c0 / {};", rows, tiles, wgmma_.tile.n));
  for (std::size_t r = 0; r < count; ++r)
    line(fmt::format("    p.t{}[place] = all[{}];", wgmma_.reductions[r].tensor, r));
  line("  }\n};\n");
}

const expr::Node& MatmulWgmmaWriter::reduced(std::size_t r) const {
  return plan_.program.nodes[static_cast<std::size_t>(wgmma_.reductions[r].node)];
}

std::vector<bool> MatmulWgmmaWriter::nodes_of_reductions() const {
  std::vector<expr::NodeId> roots;
  for (std::size_t r = 0; r < wgmma_.reductions.size(); ++r) roots.push_back(reduced(r).args[0]);
  return values_behind(plan_.program, roots);
}

void MatmulWgmmaWriter::write_pair_reduction() {
  const Asked asked = asked_by(nodes_of_reductions());
  const Code places = this->places(asked);
  line(fmt::format(
      "\n  TILE_DEVICE void reduce(const Params& p, const ResultPlace& at, const float "
      "(&sums)[{}],\n                          {}float (&all)[{}]) const {{",
      plan_.vector * wgmma_.products(), wgmma_.statistic != expr::kNoNode ? "float row, " : "",
      wgmma_.reductions.size()));
  write_sums("float");
  out_ += coordinates(places) + places.text;
  line("#pragma unroll");
  line(fmt::format("    for (int e = 0; e < kVector; e += {}) {{", group()));
  for (const plan::Operand& operand : plan_.operands) write_unpacking(operand, asked, false);
  for (int i = 0; i < group(); ++i)
    write_call(i, "reduce_element", "all, p" + own_arguments(i), asked, false);
  line("    }");
  line("  }");
}

void MatmulWgmmaWriter::write_behind_formula() {
  write_tiles();
  if (!wgmma_.reductions.empty()) write_reductions();
  if (wgmma_.statistic != expr::kNoNode) write_statistic();
  write_boxes('A', atoms::Operand::a);
  write_boxes('B', atoms::Operand::b);
  if (wgmma_.by_words()) {
    write_pair();
    if (wgmma_.words > 0) write_stored();
  } else {
    write_vector();
  }
  write_work();
}

void MatmulWgmmaWriter::write_pair() {
  const Code loads = this->loads();
  line("// Two neighbours along mode 0, of every operand.");
  line("struct ResultPair {");
  write_inputs();
  line("\n  TILE_DEVICE void load(const Params& p, const ResultPlace& at) {");
  out_ += coordinates(loads) + loads.text;
  line("  }");
  if (wgmma_.words > 0) write_pair_map();
  if (!wgmma_.reductions.empty()) write_pair_reduction();
  line("};\n");
}

void MatmulWgmmaWriter::write_sums(std::string_view sum) {
  int number = 0;
  for (const std::string& name : sums()) {
    line(fmt::format("    const Contiguous<{}, kVector> {} = {{{{sums[{}], sums[{}]}}}};", sum,
                     name, number, number + 1));
    number += 2;
  }
}

void MatmulWgmmaWriter::write_pair_map() {
  const Code places = this->places(asked_by_formula());
  const std::string_view sum = expr::compute_type(wgmma_.accumulator);
  line(
      fmt::format("\n  TILE_DEVICE void map(const Params& p, const ResultPlace& at, const {0} "
                  "(&sums)[{2}],\n                       {3}u32 (&words)[{1}]) const {{",
                  sum, wgmma_.words, plan_.vector * wgmma_.products(),
                  wgmma_.statistic != expr::kNoNode ? "float row, " : ""));
  write_sums(sum);
  write_outputs();
  out_ += coordinates(places) + places.text;
  write_groups();
  int word = 0;
  for (const plan::Operand& operand : plan_.operands) {
    if (!operand.written || operand.per_row) continue;
    line(fmt::format("    words[{}] = out{}.word[0];", word++, operand.tensor));
  }
  line("  }");
}

void MatmulWgmmaWriter::write_stored() {
  line("// 8 neighbours of an output.");
  line("struct ResultStored {");
  line("  template <int kOutput>");
  line(
      "  static TILE_DEVICE void store(const Params& p, const ResultPlace& at, const u32 "
      "(&words)[4]) {");
  int word = 0;
  for (const plan::Operand& operand : plan_.operands) {
    if (!operand.written || operand.per_row) continue;
    const Code address = destination_of(operand);
    line(fmt::format("    if constexpr (kOutput == {}) {{", word++));
    out_ += indented(coordinates(address), 2);
    line(fmt::format(
        "      const Packed<{}, 8> out = {{{{words[0], words[1], words[2], words[3]}}}};",
        expr::storage_type(operand.dtype)));
    line(fmt::format("      store_wide({}, out);\n    }}", address.text));
  }
  line("  }\n};\n");
}

void MatmulWgmmaWriter::write_finish() {
  line("  using Place = ResultPlace;");
  if (wgmma_.by_words()) {
    std::int64_t weight = expr::emitted_weight(plan_.program, formula());
    if (!wgmma_.reductions.empty()) {
      weight += expr::emitted_weight(plan_.program,
                                     {.nodes = nodes_of_reductions(),
                                      .stores = {},
                                      .given = [this](expr::NodeId id) { return given(id); }});
    }
    line(fmt::format("  static constexpr int kOutputs = {}, kTurns = {};", wgmma_.words,
                     plan::panels_of_words(wgmma_)));
    line(fmt::format("  static constexpr bool kAlike = {}, kAlongM = {}, kPanelTogether = {};",
                     wgmma_.alike, wgmma_.along_m, wgmma_.along_m && wgmma_.splits == 1));
    line(fmt::format("  static constexpr int kWeight = {}, kReductions = {};", weight,
                     wgmma_.reductions.size()));
    line("  using Vector = ResultPair;");
    if (wgmma_.words > 0) line("  using Stored = ResultStored;");
    if (!wgmma_.reductions.empty()) line("  using Reduced = ResultReduced;");
    return line("  using Finish = SumsByWords<Work>;\n");
  }
  write_sums_by_vectors(wgmma_.panel, wgmma_.along_m);
}

void MatmulWgmmaWriter::write_tiles() {
  const bool loads_a = wgmma_.loads_a();
  const atoms::Majors majors{.a = loads_a ? atoms::Major::k : wgmma_.a.major, .b = wgmma_.b.major};
  const int steps = wgmma_.tile.k / wgmma_.atom.k / (loads_a ? kBatchesOfStage : 1);
  out_ += without_namespace(atoms::emit(wgmma_.atom, "Mma", majors, steps));
  if (loads_a) {
    line(fmt::format("using TileA = OperandAlongM<{}, {}>;", wgmma_.tile.m, wgmma_.tile.k));
  } else {
    out_ += without_namespace(atoms::emit(plan::shared_tile(wgmma_, atoms::Operand::a), "TileA",
                                          kRowsOfInstruction, wgmma_.atom.k));
  }
  const atoms::SharedTile right = plan::shared_tile(wgmma_, atoms::Operand::b);
  out_ += without_namespace(atoms::emit(right, "TileB", right.mn, wgmma_.atom.k));
  write_places();
}

void MatmulWgmmaWriter::write_inside(bool left, const plan::BoxesOfTile& boxes, int along_k) {
  const Dim& extent = left ? extent_m() : extent_n();
  const int rows = left ? wgmma_.tile.m * wgmma_.cluster : wgmma_.tile.n * wgmma_.beside;
  const bool whole = extent.is_known() && extent.value() % rows == 0;
  const std::string inside =
      whole || (!left && wgmma_.second)
          ? "kBoxes"
          : fmt::format("boxes_inside<kBoxes, {}, {}>({} - tile.{})", boxes.extent, along_k,
                        value_of(extent), left ? 'm' : 'n');
  line("  static TILE_DEVICE i32 inside(const Params& p, const Tile& tile) {");
  line(fmt::format("    return {};\n  }}", inside));
}

void MatmulWgmmaWriter::write_boxes(char letter, atoms::Operand operand) {
  const bool left = operand == atoms::Operand::a;
  const plan::OperandSource& source = left ? wgmma_.a : wgmma_.b;
  const plan::BoxesOfTile boxes = plan::boxes_of(wgmma_, operand);
  const int along_k = wgmma_.tile.k / boxes.depth;  // boxes
  const bool pair = !left && wgmma_.second;
  const int sharing = left ? wgmma_.beside : wgmma_.cluster;
  // Blocks take parts along K of one panel after another, or one piece of the rows after another.
  const int of_one = boxes.count / along_k / wgmma_.products();  // product
  const std::string number = along_k > 1   ? "turn"
                             : sharing > 1 ? fmt::format("(turn * {} + i32(own))", sharing)
                                           : "turn";
  const std::string row = fmt::format("i32(tile.{}) + {}{} * {}", left ? 'm' : 'n', number,
                                      pair ? fmt::format(" % {}", of_one) : "", boxes.extent);
  const std::string k = along_k == 1 ? "k" : fmt::format("k + i32(own) * {}", boxes.depth);
  const bool in_groups = left && wgmma_.loads_a();
  std::string at = source.major == atoms::Major::k ? k + ", " + row
                   : in_groups                     ? row + ", 0, 0, (" + k + ") / 8"
                                                   : row + ", " + k;
  std::size_t rank = in_groups ? 4 : 2;
  for (std::size_t i = source.batch.size(); i-- > 0;) {
    if (source.batch[i].empty()) continue;
    at += fmt::format(", i32(tile.c{})", 1 + source.batch.size() - i);
    ++rank;
  }
  line(fmt::format("struct Source{} {{", letter));
  line(fmt::format("  static constexpr int kBoxes = {}, kBoxBytes = {};", boxes.count,
                   boxes.extent * boxes.depth * size_bytes(source.dtype)));
  line("  static TILE_DEVICE const TensorMap& map(const Params& p, i32 turn, u32 own) {");
  line(fmt::format("    return {}p.map_{};\n  }}",
                   pair ? fmt::format("{} >= {} ? p.map_c : ", number, of_one) : "",
                   left ? 'a' : 'b'));
  write_inside(left, boxes, along_k);
  line(fmt::format(
      "  static TILE_DEVICE Box<{}> box(const Tile& tile, i32 turn, u32 own, i32 k) {{", rank));
  line(fmt::format("    return {{{{{}}}}};\n  }}\n}};\n", at));
}

void MatmulWgmmaWriter::write_work() {
  const plan::TileShape& tile = wgmma_.tile;
  line("// What tile/warpgroup_matmul.cuh does.");
  line("struct Work {");
  line(fmt::format("  static constexpr int kM = {}, kN = {}, kK = {}, kStages = {};", tile.m,
                   tile.n, tile.k, tile.stages));
  line(fmt::format("  static constexpr int kConsumers = {}, kCluster = {}, kBeside = {};",
                   wgmma_.consumers(), wgmma_.cluster, wgmma_.beside));
  const bool statistic = wgmma_.statistic != expr::kNoNode;
  line(fmt::format("  static constexpr int kSplits = {}, kProducts = {};", wgmma_.splits,
                   wgmma_.products()));
  line(fmt::format("  static constexpr bool kStatistic = {}, kLoadsA = {};", statistic,
                   wgmma_.loads_a()));
  if (statistic) line("  using Statistic = RowStatistic;");
  line(fmt::format("  static constexpr bool kTakeTurns = {}, kMayBeEmpty = {};", wgmma_.takes_turns,
                   !wgmma_.k.is_known()));
  line("  using Product = Mma;\n  using SharedA = TileA;\n  using SharedB = TileB;");
  line("  using BoxesA = SourceA;\n  using BoxesB = SourceB;");
  write_finish();
  line("  static TILE_DEVICE i64 extent_k(const Params& p) {");
  line(fmt::format("    return {};\n  }}", value_of(wgmma_.k)));
  line("  static TILE_DEVICE u32 count(const Params& p) {");
  const int rows = tile.m * wgmma_.cluster, columns = tile.n * wgmma_.beside;  // of a cluster
  std::string count = fmt::format("u32(({} + {}) / {}) * u32(({} + {}) / {})", value_of(extent_m()),
                                  rows - 1, rows, value_of(extent_n()), columns - 1, columns);
  for (std::size_t m = 2; m < plan_.extents.size(); ++m) {
    count += fmt::format(" * u32({})", value_of(plan_.extents[m]));
  }
  line(fmt::format("    return {};\n  }}", count));
  line("  static TILE_DEVICE Tile tile_at(const Params& p, u32 number, u32 row, u32 column) {");
  line("    return find_tile(p, number, row, column);\n  }\n};");
}

}  // namespace tilejit::render
