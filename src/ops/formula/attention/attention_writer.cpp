#include "attention/attention_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "atoms/emit_mma.hpp"
#include "attention/interval_writer.hpp"
#include "layout/emit.hpp"

namespace tilejit::render {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;

constexpr int kColumnsOfBox = 64;
constexpr std::string_view kTanh = " tanhf(", kShortTanh = " math::score_tanh(";

std::string value_name(NodeId id) {
  return fmt::format("v{}", id);
}

}  // namespace

std::vector<std::string_view> AttentionWriter::own_headers() const {
  return {"contiguous",          "wide",
          "warpgroup_attention", "attention_order",
          "score_functions",     wgmma_.words > 0 ? "sums_by_words" : "sums_by_vectors"};
}

bool AttentionWriter::is_loaded(const plan::Operand& operand) const {
  return MatmulWgmmaWriter::is_loaded(operand) && operand.tensor < attention_.key_tensor;
}

void AttentionWriter::write_before_formula() {
  out_ += expr::emit_cuda_functions(attention_.scores.program);
}

void AttentionWriter::write_behind_formula() {
  write_operands();
  if (wgmma_.words > 0) {
    write_pair();
    write_stored();
  } else {
    write_vector();
  }
  write_scores();
  write_mask();
  write_attention_work();
}

void AttentionWriter::write_operands() {
  constexpr int kRowsOfInstruction = 64, kDepth = 16;
  out_ += without_namespace(atoms::emit(attention_.score_atom, "MmaOfScores"));
  out_ += without_namespace(
      atoms::emit(attention_.atom, "Mma", {.a = atoms::Major::k, .b = atoms::Major::mn}));
  const atoms::SharedTile keys = plan::key_tile(attention_), values = plan::value_tile(attention_);
  out_ += without_namespace(
      atoms::emit(plan::query_tile(attention_), "TileQ", kRowsOfInstruction, kDepth));
  out_ += without_namespace(atoms::emit(keys, "TileK", keys.mn, kDepth));
  out_ += without_namespace(atoms::emit(values, "TileV", values.mn, kDepth));
  write_places();
  write_source('Q', attention_.a, attention_.columns, attention_.tile.m, "i32(tile.m)");
  write_source('K', attention_.keys, attention_.columns, attention_.tile.k, "first");
  write_source('V', attention_.b, values.mn, attention_.tile.k, "first");
}

void AttentionWriter::write_source(char letter, const plan::OperandSource& source, int columns,
                                   int rows_of_box, const std::string& row) {
  std::string at = fmt::format("number * {}, {}", kColumnsOfBox, row);
  int rank = 2;
  for (std::size_t i = source.batch.size(); i-- > 0;) {
    const std::string coordinate = fmt::format("tile.c{}", 1 + source.batch.size() - i);
    std::string before;
    for (const Mode& leaf : source.batch[i]) {
      const std::string own =
          source.batch[i].size() == 1
              ? coordinate
              : fmt::format("{}{} % {}", coordinate, before, value_of(leaf.extent));
      before += " / " + value_of(leaf.extent);
      if (leaf.stride.is(0)) continue;
      at += fmt::format(", i32({})", own);
      ++rank;
    }
  }
  line(fmt::format("struct Source{} {{", letter));
  line(fmt::format("  static constexpr int kBoxes = {}, kBoxBytes = {};", columns / kColumnsOfBox,
                   rows_of_box * kColumnsOfBox * size_bytes(source.dtype)));
  line("  static TILE_DEVICE const TensorMap& map(const Params& p) {");
  const char* const name = letter == 'Q' ? "q" : letter == 'K' ? "k" : "v";
  line(fmt::format("    return p.map_{};\n  }}", name));
  line(fmt::format("  static TILE_DEVICE Box<{}> box(const Tile& tile, i32 number, i32 first) {{",
                   rank));
  line(fmt::format("    return {{{{{}}}}};\n  }}\n}};\n", at));
}

std::string AttentionWriter::coordinate_of(std::size_t axis) const {
  const std::size_t rank = attention_.scores.shape.size();
  if (axis + 1 == rank) return "key";
  return axis + 2 == rank ? "query" : fmt::format("tile.c{}", rank - 1 - axis);
}

std::string AttentionWriter::extent_of(const Node& node) const {
  std::string product;
  for (std::size_t i = 0; i < attention_.scores.shape.size(); ++i) {
    if (!expr::has_axis(node.axes, i)) continue;
    product += (product.empty() ? "" : " * ") + value_of(attention_.scores.shape[i]);
  }
  return product;
}

std::string AttentionWriter::given_score(NodeId id) const {
  const Node& node = score_node(id);
  if (node.op == Op::extent)
    return fmt::format("static_cast<{}>({})", expr::compute_type(node.type), extent_of(node));
  if (node.op != Op::index) return {};
  for (std::size_t i = 0; i < attention_.scores.shape.size(); ++i) {
    if (expr::has_axis(node.axes, i))
      return fmt::format("{}({})", expr::compute_type(node.type), coordinate_of(i));
  }
  return "i64(0)";
}

expr::Slice AttentionWriter::slice_of(const std::vector<NodeId>& roots) const {
  const auto& nodes = attention_.scores.program.nodes;
  expr::Slice slice{.nodes = std::vector<bool>(nodes.size()),
                    .stores = {},
                    .given = [this](NodeId id) { return given_score(id); }};
  for (const NodeId root : roots) {
    slice.nodes[static_cast<std::size_t>(root)] = true;
    slice.results.push_back(root);
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!slice.nodes[i]) continue;
    for (const NodeId arg : nodes[i].args) {
      if (arg != kNoNode) slice.nodes[static_cast<std::size_t>(arg)] = true;
    }
  }
  return slice;
}

std::string AttentionWriter::element_of(const plan::ScoreTensor& tensor) const {
  const std::size_t rank = tensor.modes.size();
  std::string at;
  for (std::size_t m = 0; m < rank; ++m) {
    const std::string coordinate = m == 0   ? "i64(key)"
                                   : m == 1 ? "i64(query)"
                                            : fmt::format("tile.c{}", m);
    const std::string share = index_of(tensor.modes[m], coordinate);
    if (share != "0") at += " + " + share;
  }
  const DType dtype = plan_.operands[static_cast<std::size_t>(tensor.tensor)].dtype;
  return fmt::format("    const {} t{} = to_compute(p.t{}[{}]);\n", expr::compute_type(dtype),
                     tensor.source, tensor.tensor, at.empty() ? "0" : at.substr(3));
}

std::string AttentionWriter::body_of(const std::vector<NodeId>& roots,
                                     const std::string& result) const {
  const expr::Program& program = attention_.scores.program;
  const expr::Slice slice = slice_of(roots);
  std::string loads;
  for (const plan::ScoreTensor& tensor : attention_.scores.tensors) {
    for (std::size_t i = 0; i < slice.nodes.size(); ++i) {
      if (!slice.nodes[i] || program.nodes[i].op != Op::load) continue;
      if (program.nodes[i].source != tensor.source) continue;
      loads += element_of(tensor);
      break;
    }
  }
  if (!loads.empty()) {  // an edge has coordinates that do not exist
    const std::string last_query = value_of(extent_m()), last_key = value_of(attention_.k);
    loads = fmt::format("    query = min(query, i32({} - 1));\n    key = min(key, i32({} - 1));\n",
                        last_query, last_key) +
            loads;
  }
  std::string values = indented(expr::emit_cuda(program, slice), 4);
  for (std::size_t at = 0; (at = values.find(kTanh, at)) != std::string::npos;)
    values.replace(at, kTanh.size(), kShortTanh);
  return loads + values + "    return " + result + ";\n";
}

void AttentionWriter::write_scores() {
  const formula::Attention& of = attention_.scores.attention;
  line("// From a sum of products to its score, and what all scores are multiplied by.");
  line("struct Scores {");
  NodeId plain = of.score;
  while (score_node(plain).op == Op::cast && score_node(plain).type == f32)
    plain = score_node(plain).args[0];
  const bool is_plain = score_node(plain).op == Op::load && score_node(plain).source == of.products;
  line(fmt::format("  static constexpr bool kPlain = {};", is_plain));
  line("  static TILE_DEVICE float score(const Params& p, const Tile& tile, i32 query, i32 key,");
  line(fmt::format("                                 float t{}) {{", of.products));
  out_ += body_of({of.score}, value_name(of.score));
  line("  }\n  static TILE_DEVICE float scale(const Params& p) {");
  if (of.scale == kNoNode) {
    line("    return 1.f;");
  } else {
    out_ += body_of({of.scale}, (of.divides ? "1.f / " : "") + value_name(of.scale));
  }
  line(
      "  }\n  static TILE_DEVICE bool sees(const Params& p, const Tile& tile, i32 query, i32 key) "
      "{");
  std::vector<NodeId> conditions;
  std::string all;
  for (const formula::ScoreMask& mask : of.masks) {
    conditions.push_back(mask.condition);
    all += (all.empty() ? "" : " && ") + std::string(mask.keeps ? "" : "!") +
           value_name(mask.condition);
  }
  out_ += conditions.empty() ? "    return true;\n" : body_of(conditions, all);
  line("  }\n};\n");
}

void AttentionWriter::write_mask() {
  const formula::Attention& of = attention_.scores.attention;
  const std::size_t rank = attention_.scores.shape.size();
  const IntervalLeaf leaf = [&](const Node& node) {
    if (node.op == Op::extent) return fmt::format("interval({})", extent_of(node));
    if (expr::has_axis(node.axes, rank - 1)) return std::string("keys");
    if (expr::has_axis(node.axes, rank - 2)) return std::string("queries");
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      if (expr::has_axis(node.axes, i)) return fmt::format("interval(tile.c{})", rank - 1 - i);
    }
    return std::string("interval(0)");
  };
  line("// Whether the mask may leave, and may exclude, some of these keys for the tile's rows.");
  line("TILE_DEVICE Truth mask_of(const Params& p, const Tile& tile, i64 first, i64 last) {");
  if (of.masks.empty()) return line("  return {true, false};\n}\n");
  line(fmt::format("  const i64 end = {};", value_of(extent_m())));
  line("  const Interval keys = interval(first, last);");
  line(
      fmt::format("  const Interval queries = interval(tile.m, (tile.m + {0} < end ? tile.m + {0} "
                  ": end) - 1);",
                  attention_.tile.m));
  line("  Truth all = {true, false};");
  for (const formula::ScoreMask& mask : of.masks) {
    line("  {");
    out_ += interval_text(attention_.scores.program, mask.condition, leaf);
    const std::string of_mask = fmt::format("i{}", mask.condition);
    line(fmt::format("    all = truth_and(all, {});\n  }}",
                     mask.keeps ? of_mask : "truth_not(" + of_mask + ")"));
  }
  line("  return all;\n}\n");
}

void AttentionWriter::write_attention_work() {
  const plan::TileShape& tile = attention_.tile;
  std::string heads = "1";
  for (std::size_t m = 2; m < plan_.extents.size(); ++m)
    heads += fmt::format(" * u32({})", value_of(plan_.extents[m]));
  line("// What tile/warpgroup_attention.cuh does.");
  line("struct Work {");
  line(fmt::format("  static constexpr int kM = {}, kN = {}, kKeys = {}, kColumns = {};", tile.m,
                   tile.n, tile.k, attention_.columns));
  line(fmt::format("  static constexpr int kStages = {}, kConsumers = {};", tile.stages,
                   wgmma_.consumers()));
  line(fmt::format("  static constexpr float kBase = {};",
                   attention_.scores.attention.base_two ? "1.f" : "1.44269504f"));
  line(fmt::format("  using Element = {};", expr::storage_type(attention_.a.dtype)));
  line("  using MmaScores = MmaOfScores;\n  using Product = Mma;");
  line("  using SharedQ = TileQ;\n  using SharedK = TileK;\n  using SharedV = TileV;");
  line("  using BoxesQ = SourceQ;\n  using BoxesK = SourceK;\n  using BoxesV = SourceV;");
  write_finish();
  line(fmt::format("  static TILE_DEVICE i64 extent_k(const Params& p) {{\n    return {};\n  }}",
                   value_of(attention_.k)));
  line(
      fmt::format("  static TILE_DEVICE u32 rows(const Params& p) {{\n    return u32(({} + {}) / "
                  "{});\n  }}",
                  value_of(extent_m()), tile.m - 1, tile.m));
  line(fmt::format("  static TILE_DEVICE u32 heads(const Params& p) {{\n    return {};\n  }}",
                   heads));
  line("  static TILE_DEVICE u32 count(const Params& p) {\n    return rows(p) * heads(p);\n  }");
  line("  static TILE_DEVICE Tile tile_at(const Params& p, u32 number) {");
  line(fmt::format("    const u32 group = heads_of_group(extent_k(p) * {});",
                   (attention_.columns + tile.n) * size_bytes(attention_.a.dtype)));
  line("    const AttentionTile at = attention_tile(number, rows(p), heads(p), group);");
  line("    return find_tile(p, at.head * rows(p) + at.row, 0);\n  }");
  line("  static TILE_DEVICE Truth mask(const Params& p, const Tile& tile, i64 first, i64 last) {");
  line("    return mask_of(p, tile, first, last);\n  }");
  line("  using ScoreFormula = Scores;\n};");
}

}  // namespace tilejit::render
