#include "attention/score_writer.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attention/interval_writer.hpp"
#include "matmul/matmul_writer.hpp"

namespace tilejit::render {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;
using plan::ScoreTensor;

constexpr std::size_t kKeys = 0, kQueries = 1;  // of ScoreTensor::modes

std::string value_name(NodeId id) {
  return fmt::format("v{}", id);
}

}  // namespace

std::string ScoreWriter::write() {
  write_scores();
  write_mask();
  write_rows();
  return std::move(out_);
}

/// A tensor may have -infinity for some keys.
std::string_view ScoreWriter::checks() const {
  const formula::Attention& of = weights_.scores.attention;
  for (const ScoreTensor* const tensor : tensors_of({of.score})) {
    if (tensor->varies(kKeys) && is_floating(dtype_of(*tensor))) return "all";
  }
  return of.masks.empty() ? "none" : "masked";
}

std::string ScoreWriter::coordinate_of(const Node& node) const {
  const std::size_t rank = weights_.scores.shape.size();
  for (std::size_t i = 0; i < rank; ++i) {
    if (!expr::has_axis(node.axes, i)) continue;
    if (i + 1 == rank) return "at.key";
    return i + 2 == rank ? "at.query" : fmt::format("tile.c{}", rank - 1 - i);
  }
  return "0";
}

std::string ScoreWriter::extent_of(const Node& node) const {
  std::string product;
  for (std::size_t i = 0; i < weights_.scores.shape.size(); ++i) {
    if (!expr::has_axis(node.axes, i)) continue;
    product += (product.empty() ? "" : " * ") + value_of_(weights_.scores.shape[i]);
  }
  return product;
}

std::string ScoreWriter::given_score(NodeId id) const {
  const formula::Attention& of = weights_.scores.attention;
  const Node& node = score_node(id);
  if (std::ranges::find(kept_, id) != kept_.end()) return fmt::format("terms.u{}", id);
  if (id == of.sum) return "sum";
  if (node.op == Op::reduce_max) return "maximum";
  const std::string type(expr::compute_type(node.type));
  if (node.op == Op::extent) return fmt::format("static_cast<{}>({})", type, extent_of(node));
  if (node.op == Op::index) return fmt::format("{}({})", type, coordinate_of(node));
  if (node.op == Op::cast && node.type == f32 && score_node(node.args[0]).op == Op::index) {
    const std::string at = coordinate_of(score_node(node.args[0]));
    if (at.starts_with("at.")) return at + "_value";
  }
  if (node.op == Op::sub && node.type == f32) {
    const std::string from = given_score(node.args[0]), to = given_score(node.args[1]);
    if (from == "at.query_value" && to == "at.key_value") return "at.distance()";
    if (from == "at.key_value" && to == "at.query_value") return "-at.distance()";
  }
  if (const NodeId factor = factor_of_distance(node); factor != kNoNode) {
    const bool is_first = node.args[0] == factor;
    const std::string distance = given_score(node.args[is_first ? 1 : 0]);
    const std::string given = given_score(factor);
    return fmt::format("{}at.times_distance({})", distance.starts_with('-') ? "-" : "",
                       given.empty() ? value_name(factor) : given);
  }
  return {};
}

NodeId ScoreWriter::factor_of_distance(const Node& node) const {
  if (node.op != Op::mul || node.type != f32) return kNoNode;
  for (const int i : {0, 1}) {
    if (given_score(node.args[static_cast<std::size_t>(i)]).ends_with("at.distance()"))
      return node.args[static_cast<std::size_t>(1 - i)];
  }
  return kNoNode;
}

expr::Slice ScoreWriter::slice_of(const std::vector<NodeId>& roots) const {
  const auto& nodes = weights_.scores.program.nodes;
  expr::Slice slice{.nodes = std::vector<bool>(nodes.size()),
                    .stores = {},
                    .given = [this](NodeId id) { return given_score(id); }};
  for (const NodeId root : roots) {
    slice.nodes[static_cast<std::size_t>(root)] = true;
    slice.results.push_back(root);
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!slice.nodes[i]) continue;
    if (const NodeId factor = factor_of_distance(nodes[i]); factor != kNoNode)
      slice.nodes[static_cast<std::size_t>(factor)] = true;
    if (!given_score(static_cast<NodeId>(i)).empty()) continue;
    for (const NodeId arg : nodes[i].args) {
      if (arg != kNoNode) slice.nodes[static_cast<std::size_t>(arg)] = true;
    }
  }
  return slice;
}

std::vector<const ScoreTensor*> ScoreWriter::tensors_of(const std::vector<NodeId>& roots) const {
  const auto& nodes = weights_.scores.program.nodes;
  const expr::Slice slice = slice_of(roots);
  std::vector<const ScoreTensor*> tensors;
  for (const ScoreTensor& tensor : weights_.scores.tensors) {
    bool is_read = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      is_read = is_read ||
                (slice.nodes[i] && nodes[i].op == Op::load && nodes[i].source == tensor.source);
    }
    if (is_read) tensors.push_back(&tensor);
  }
  return tensors;
}

std::string ScoreWriter::place_of(const ScoreTensor& tensor, const std::string& key,
                                  const std::string& query) const {
  std::string at;
  for (std::size_t m = 0; m < tensor.modes.size(); ++m) {
    const std::string coordinate = m == kKeys      ? key
                                   : m == kQueries ? query
                                                   : fmt::format("tile.c{}", m);
    const std::string share = index_text(tensor.modes[m], coordinate, value_of_);
    if (share != "0") at += " + " + share;
  }
  return at.empty() ? "0" : at.substr(3);
}

std::string ScoreWriter::element_of(const ScoreTensor& tensor, const std::string& key,
                                    const std::string& query) const {
  return fmt::format("to_compute(p.t{}[{}])", tensor.tensor, place_of(tensor, key, query));
}

std::string ScoreWriter::values_of(const std::vector<NodeId>& roots) const {
  std::string text;
  bool has_place = false;
  for (const ScoreTensor* const tensor : tensors_of(roots)) {
    const DType dtype = dtype_of(*tensor);
    std::string element = fmt::format("terms.x{}", tensor->source);
    if (tensor->varies(kKeys)) {
      // The address is one of the row and its other coordinates, and the key's offset.
      element = fmt::format("to_compute((p.t{} + ({}))[{}])", tensor->tensor,
                            place_of(*tensor, "0", "i64(query)"),
                            index_text(tensor->modes[kKeys], "i64(key)", value_of_));
      if (!has_place) {
        text += existing("query", query_count(), product_.tile.m) +
                existing("key", key_count(), product_.tile.k);
      }
      has_place = true;
    }
    text +=
        fmt::format("    const {} t{} = {};\n", expr::compute_type(dtype), tensor->source, element);
  }
  return text +
         HeaderWriter::indented(expr::emit_cuda(weights_.scores.program, slice_of(roots)), 4);
}

std::string ScoreWriter::existing(std::string_view coordinate, const Dim& count, int tile) const {
  const bool exists = count.is_known() && count.value() % tile == 0;
  return exists ? fmt::format("    const i32 {0} = at.{0};\n", coordinate)
                : fmt::format("    const i32 {0} = min(at.{0}, i32({1} - 1));\n", coordinate,
                              value_of_(count));
}

std::vector<NodeId> ScoreWriter::kept_by_terms() const {
  if (!std::holds_alternative<plan::AttentionWgmma>(plan_.family)) return {};
  const auto& nodes = weights_.scores.program.nodes;
  const std::vector<bool> uniform = formula::uniform_nodes(weights_.scores.program);
  const auto is_computed = [&](NodeId id) {
    const Op op = score_node(id).op;
    return op != Op::constant && op != Op::scalar && op != Op::extent;
  };
  const expr::Slice slice = slice_of({weights_.scores.attention.score});
  std::set<NodeId> ids;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!slice.nodes[i] || uniform[i]) continue;
    for (const NodeId arg : nodes[i].args) {
      if (arg != kNoNode && uniform[static_cast<std::size_t>(arg)] && is_computed(arg))
        ids.insert(arg);
    }
  }
  return {ids.begin(), ids.end()};
}

std::vector<NodeId> ScoreWriter::conditions() const {
  std::vector<NodeId> ids;
  for (const formula::ScoreMask& mask : weights_.scores.attention.masks)
    ids.push_back(mask.condition);
  return ids;
}

void ScoreWriter::write_terms() {
  line("  // What is the same for all keys of a row, or for all scores.\n  struct Terms {");
  std::string loads;
  for (const ScoreTensor& tensor : weights_.scores.tensors) {
    if (tensor.written || tensor.varies(kKeys)) continue;
    const DType dtype = dtype_of(tensor);
    line(fmt::format("    {} x{};", expr::compute_type(dtype), tensor.source));
    loads += fmt::format("      x{} = {};\n", tensor.source, element_of(tensor, "0", "i64(query)"));
  }
  const std::vector<NodeId> kept = kept_by_terms();
  for (const NodeId id : kept)
    line(fmt::format("    {} u{};", expr::compute_type(score_node(id).type), id));
  line("    TILE_DEVICE void load(const Params& p, const Tile& tile, i32 query) {");
  if (!loads.empty())
    line(fmt::format("      query = min(query, i32({} - 1));", value_of_(query_count())));
  out_ += loads;
  if (!kept.empty()) out_ += values_of(kept);
  for (const NodeId id : kept) line(fmt::format("      u{} = {};", id, value_name(id)));
  line("    }\n  };");
}

void ScoreWriter::write_scores() {
  const formula::Attention& of = weights_.scores.attention;
  line("// From a sum of products to its score, and what all scores are multiplied by.");
  line("struct Scores {");
  write_terms();
  line(fmt::format("  static constexpr bool kPlain = {};", weights_.scores.is_plain()));
  line("  static TILE_DEVICE float score(const Params& p, const Tile& tile, const Terms& terms,");
  line(fmt::format("                                 const ScorePlace& at, float t{}) {{",
                   of.products));
  kept_ = kept_by_terms();
  out_ += values_of({of.score});
  kept_.clear();
  line(fmt::format("    return {};", value_name(of.score)));
  line("  }\n  static TILE_DEVICE float scale(const Params& p) {");
  if (of.scale == kNoNode) {
    line("    return 1.f;");
  } else {
    out_ += values_of({of.scale});
    line(fmt::format("    return {}{};", of.divides ? "1.f / " : "", value_name(of.scale)));
  }
  line(
      "  }\n  static TILE_DEVICE bool sees(const Params& p, const Tile& tile, const Terms& terms,");
  line("                               const ScorePlace& at) {");
  std::string all;
  for (const formula::ScoreMask& mask : of.masks) {
    all += (all.empty() ? "" : " && ") + std::string(mask.keeps ? "" : "!") +
           value_name(mask.condition);
  }
  if (!all.empty()) out_ += values_of(conditions());
  line(fmt::format("    return {};\n  }}\n}};\n", all.empty() ? "true" : all));
}

void ScoreWriter::write_mask_tensors(const std::vector<const ScoreTensor*>& tensors) {
  std::string members, rows, keys;
  for (const ScoreTensor* const tensor : tensors) {
    const bool along_keys = tensor->varies(kKeys), along_queries = tensor->varies(kQueries);
    if (along_keys && along_queries) continue;  // not looked at: the mask is unknown
    members += fmt::format("  Interval x{};\n", tensor->source);
    const std::string value =
        fmt::format("[&](i64 i) {{ return {}; }}",
                    along_keys ? element_of(*tensor, "i", "0") : element_of(*tensor, "0", "i"));
    if (along_keys) {
      keys += fmt::format("    x{} = interval_of_block<{}>(top, {}, wanted, {});\n", tensor->source,
                          product_.tile.k, value_of_(key_count()), value);
    } else {
      rows += fmt::format("    x{} = interval_of(tile.m, {}, {});\n", tensor->source,
                          along_queries ? "last" : "tile.m", value);
    }
  }
  line("// What the integers are that masks read: of a tile's rows, and of blocks of keys.");
  line("struct Tensors {");
  line(fmt::format("  static constexpr bool kReadsKeys = {};", !keys.empty()));
  out_ += members;
  line("  TILE_DEVICE void rows(const Params& p, const Tile& tile) {");
  if (!rows.empty()) {
    line(
        fmt::format("    const i64 end = {0}, last = (tile.m + {1} < end ? tile.m + {1} : end) - "
                    "1;",
                    value_of_(query_count()), product_.tile.m));
  }
  line(rows +
       "  }\n  TILE_DEVICE void keys(const Params& p, const Tile& tile, i32 top, u32 wanted) {");
  line(keys + "  }\n};\n");
}

void ScoreWriter::write_mask() {
  const formula::Attention& of = weights_.scores.attention;
  const std::size_t rank = weights_.scores.shape.size();
  const std::vector<const ScoreTensor*> tensors =
      of.masks.empty() ? std::vector<const ScoreTensor*>() : tensors_of(conditions());
  const IntervalLeaf leaf = [&](const Node& node) {
    if (node.op == Op::extent) return fmt::format("interval({})", extent_of(node));
    if (node.op == Op::load) {
      const auto tensor = std::ranges::find(tensors, node.source,
                                            [](const ScoreTensor* one) { return one->source; });
      const bool is_known = !((*tensor)->varies(kKeys) && (*tensor)->varies(kQueries));
      return is_known ? fmt::format("tensors.x{}", node.source) : std::string("Interval{}");
    }
    if (expr::has_axis(node.axes, rank - 1)) return std::string("keys");
    if (expr::has_axis(node.axes, rank - 2)) return std::string("queries");
    const std::string coordinate = coordinate_of(node);
    return fmt::format("interval({})", coordinate == "0" ? "i64(0)" : coordinate);
  };
  write_mask_tensors(tensors);
  line("// Whether the mask may leave, and may exclude, some of these keys for the tile's rows.");
  line("TILE_DEVICE Truth mask_of(const Params& p, const Tile& tile, const Tensors& tensors,");
  line("                          i64 first, i64 last) {");
  if (of.masks.empty()) return line("  return {true, false};\n}\n");
  line(fmt::format("  const i64 end = {};", value_of_(query_count())));
  line("  const Interval keys = interval(first, last);");
  line(
      fmt::format("  const Interval queries = interval(tile.m, (tile.m + {0} < end ? tile.m + {0} "
                  ": end) - 1);",
                  product_.tile.m));
  line("  Truth all = {true, false};");
  for (const formula::ScoreMask& mask : of.masks) {
    line("  {");
    out_ += interval_text(weights_.scores.program, mask.condition, leaf);
    const std::string of_mask = fmt::format("i{}", mask.condition);
    line(fmt::format("    all = truth_and(all, {});\n  }}",
                     mask.keeps ? of_mask : "truth_not(" + of_mask + ")"));
  }
  line("  return all;\n}\n");
}

void ScoreWriter::write_rows() {
  const formula::Attention& of = weights_.scores.attention;
  const auto function = [&](std::string_view type, std::string_view name) {
    line(fmt::format("  static TILE_DEVICE {} {}(const Params& p, const Tile& tile,", type, name));
    line("      const Scores::Terms& terms, i32 query, float maximum, float sum) {");
  };
  std::vector<const ScoreTensor*> outputs;
  for (const ScoreTensor& tensor : weights_.scores.tensors) {
    if (tensor.written) outputs.push_back(&tensor);
  }
  line("// What a row's outputs are divided by, and what else becomes of it.\nstruct Rows {");
  line(
      fmt::format("  static constexpr bool kPlain = {};", of.divisor == of.sum && outputs.empty()));
  function("float", "divisor");
  constexpr std::string_view kPlace =
      "    const ScorePlace at = {query, 0, float(query), 0.f, float(query), 0.f};";
  if (of.divisor != of.sum) {
    line(kPlace);
    out_ += values_of({of.divisor});
  }
  line(fmt::format("    return {};\n  }}", of.divisor == of.sum ? "sum" : value_name(of.divisor)));
  function("void", "store");
  if (!outputs.empty()) line(kPlace);
  for (const ScoreTensor* const tensor : outputs) {
    const auto store =
        std::ranges::find(weights_.scores.program.stores, tensor->source, &expr::Store::tensor);
    const DType dtype = dtype_of(*tensor);
    line("    {");
    out_ += values_of({store->value});
    line(fmt::format("    p.t{}[{}] = store_as<{}>({});\n    }}", tensor->tensor,
                     place_of(*tensor, "0", "i64(query)"), expr::storage_type(dtype),
                     value_name(store->value)));
  }
  line("  }\n};\n");
}

}  // namespace tilejit::render
