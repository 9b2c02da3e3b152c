// The part of plan.cuh that fused_rows.cu asks for.
#include <algorithm>

#include <fmt/format.h>

#include "plan/rows.hpp"
#include "render/header_writer.hpp"

namespace tilejit::render {
namespace {

using expr::Node;
using expr::NodeId;
using expr::Op;
using plan::Operand;

}  // namespace

/// Lines that take `index` apart into the coordinates of `count` modes, as `type`.
std::string HeaderWriter::decode(const std::string& index, std::size_t first, std::size_t count,
                                 const std::string& type, const std::string& target) const {
  std::string text, from = index;
  for (std::size_t m = first; m < first + count; ++m) {
    const std::string to =
        target.empty() ? fmt::format("const {} c{}", type, m) : fmt::format("{}c{}", target, m);
    if (m + 1 == first + count) return text + fmt::format("  {} = {};\n", to, from);
    const std::string rest = fmt::format("rest{}", m + 1);
    const auto [units, quotient] = split_at(m, m == 0 ? plan_.vector : 1, from, type);
    text += fmt::format("  const {} {} = {};\n  {} = {} - {} * {};  // {}\n", type, rest, quotient,
                        to, from, rest, units, to_string(plan_.extents[m]));
    from = rest;
  }
  return text;
}

bool HeaderWriter::steps_are_whole() const {
  const plan::Rows& rows = *rows_;
  return plan::vectors_in_row(plan_, rows) == plan::lanes_of_row(rows) * rows.held;
}

bool HeaderWriter::chunks_are_whole() const {
  const auto vectors = plan::vectors_in_row(plan_, *rows_);
  return vectors && *vectors > 0 && *vectors % (rows_->lanes * plan_.unroll) == 0;
}

bool HeaderWriter::blocks_are_whole() const {
  const auto rows = plan::vectors_across_rows(plan_, *rows_);
  return rows && *rows > 0 && *rows % (plan_.threads / rows_->lanes) == 0;
}

/// Who shares a row, and what is read of it at once.
void HeaderWriter::write_sharing() {
  const plan::Rows& rows = *rows_;
  const bool shares = rows.shares > 1;
  line(fmt::format("#define SHARES_ROWS {:d}", shares));
  const auto rescales = [](const expr::RescaledSum& sum) { return sum.maximum != expr::kNoNode; };
  line(fmt::format("#define RESCALES_SUMS {:d}", std::ranges::any_of(stages_.sums, rescales)));
  if (shares && !direction_) line(fmt::format("#define COUNTS_BLOCKS {:d}", rows.atomics));
  if (shares) line(fmt::format("#define KERNEL_NAME_COMBINE {}_combine", plan_.kernel_name));
  if (shares) {
    line(fmt::format("constexpr int kCombineThreads = {};  // a block that combines what is left",
                     plan::combining_threads(plan_)));
  }
  if (shares && !direction_) {
    line(fmt::format("constexpr int kCombiners = {};  // threads of it that have a row",
                     plan::combiners(plan_)));
  }
  line(
      fmt::format("constexpr int kShares = {};  // blocks a row that meet in memory", rows.shares));
  line(fmt::format("constexpr int kHeld = {};  // vectors in registers", rows.held));
  line(fmt::format("#define HOLDS_ROWS {:d}", rows.held > 0));
  line(fmt::format("constexpr bool kBlocksAreWhole = {};  // all have as many rows",
                   blocks_are_whole()));
  if (direction_) {
    line(fmt::format("constexpr bool kChunksAreWhole = {};  // rows end with one",
                     chunks_are_whole()));
  } else {
    line(fmt::format("constexpr bool kStepsAreWhole = {};  // all lanes hold as many",
                     steps_are_whole()));
    line(fmt::format("constexpr int kReductions = {};  // one after another", stages_.count));
    line(fmt::format("constexpr int kCluster = {};  // blocks a row", rows.cluster));
    line(fmt::format("#define USES_CLUSTER {:d}", rows.cluster > 1));
    line(fmt::format("#define TAKES_ROW_AFTER_ROW {:d}", rows.ahead));
    line(fmt::format("#define KEEPS_INPUTS {:d}", keeps_inputs()));
  }
  line(fmt::format("constexpr int kBatch = {};  // loads in flight", plan_.unroll));
}

void HeaderWriter::write_row() {
  const plan::Rows& rows = *rows_;
  const std::size_t rank = plan_.extents.size();
  const std::size_t kept = rows.along() ? rows.count : 0, kept_count = rank - rows.count;
  const auto outputs = [&](bool per_row) {
    return std::ranges::any_of(plan_.operands, [&](const Operand& operand) {
      return operand.written && operand.per_row == per_row;
    });
  };
  const bool in_place = std::ranges::any_of(
      plan_.operands, [](const Operand& operand) { return operand.per_row && operand.read; });
  line(fmt::format("using Index = {};  // of the vectors of a row",
                   plan::has_short_rows(plan_) ? "u32" : "u64"));
  line(fmt::format("constexpr bool kAlong = {};", rows.along()));
  line(fmt::format("constexpr int kAcross = {};  // rows of a thread",
                   rows.along() ? 1 : plan_.vector));
  line(fmt::format("constexpr int kLanes = {};  // threads of a block that share a row",
                   rows.lanes));
  if (light_) {
    write_light_constants(outputs(false));
  } else {
    write_sharing();
  }
  line(fmt::format("constexpr bool kFullOutputs = {};", outputs(false)));
  line(fmt::format("constexpr bool kRowOutputs = {};", outputs(true)));
  line(fmt::format("constexpr bool kRowsInPlace = {};\n", in_place));

  if (!light_) {
    const std::string counters =
        rows.atomics ? fmt::format(" + {}", plan::counters_bytes(plan_)) : std::string();
    line(fmt::format(
        "TILE_DEVICE unsigned char* partials_of(const Params& p) {{\n  return {};\n}}\n",
        rows.shares > 1 ? "p.partials" + counters : "nullptr"));
  }
  line("struct Row {");
  for (std::size_t m = kept; m < kept + kept_count; ++m) line(fmt::format("  i64 c{};", m));
  if (!rows.along() && plan_.ragged) line("  int valid;");
  std::string starts;
  for (const Operand& operand : plan_.operands) {
    if (!has_row_start(operand)) continue;
    line(fmt::format("  const {}* from{};", storage_type(operand.dtype), operand.tensor));
    starts += fmt::format(
        "  row.from{0} = p.t{0}{1};\n"
        "  asm(\"\" : \"+l\"(row.from{0}));  // here, not before each load\n",
        operand.tensor, offset_of(operand.modes, Among::kept));
  }
  line("};\n\nTILE_DEVICE Row row_at(const Params& p, u32 index) {\n  Row row;");
  out_ += decode("index", kept, kept_count, "u32", "row.");
  if (!rows.along() && plan_.ragged) {
    line(fmt::format("  const i64 rest = {} - row.c0 * kVector;", value_of(plan_.extents.front())));
    line("  row.valid = rest < kVector ? int(rest) : kVector;");
  }
  for (std::size_t m = kept; m < kept + kept_count; ++m) {
    if (mentions(starts, fmt::format("c{}", m)))
      line(fmt::format("  const i64 c{0} = row.c{0};", m));
  }
  out_ += starts;
  line("  return row;\n}\n");

  std::string vectors;
  for (std::size_t m = rows.first; m < rows.first + rows.count; ++m) {
    const std::string extent = value_of(plan_.extents[m]);
    vectors += vectors.empty() ? "" : " * ";
    vectors +=
        m == 0 && plan_.vector > 1 ? fmt::format("(({} + kVector - 1) / kVector)", extent) : extent;
  }
  line("// In vectors.");
  line(fmt::format("TILE_DEVICE Index row_length(const Params& p) {{\n  return Index({});\n}}\n",
                   vectors));
}

/// The values that reductions give, and what is made of them once a row, by node.
void HeaderWriter::write_results() {
  line("struct Results {");
  for (std::size_t i = 0; i < plan_.program.nodes.size(); ++i) {
    const Node& node = plan_.program.nodes[i];
    if (!stages_.is_result(plan_.program, static_cast<NodeId>(i))) continue;
    line(fmt::format("  {} v{};", expr::compute_type(node.type), i));
  }
  line("};\n");
}

/// The coordinates of a vector's first element: those of its row, and those that `v` holds.
std::string HeaderWriter::row_coordinates() const {
  const plan::Rows& rows = *rows_;
  std::string text;
  for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
    if (!rows.reduces(m)) text += fmt::format("  const i64 c{0} = row.c{0};\n", m);
  }
  return text + decode("v", rows.first, rows.count, "Index", "");
}

bool HeaderWriter::has_row_start(const Operand& operand) const {
  // Scans are as fast without.
  if (!rows_ || light_ || direction_) return false;
  const bool loops = rows_->held == 0 || rows_->ahead;
  return loops && belongs(operand, Part::direct_loads);
}

std::string HeaderWriter::pass_start(const Asked& asked, const std::string& accesses) const {
  const plan::Rows& rows = *rows_;
  std::string declarations, loads;
  for (const Operand& operand : plan_.operands) {
    if (!operand.read || plan::is_loaded_with_row(rows, operand) ||
        !asked.tensors[static_cast<std::size_t>(operand.tensor)])
      continue;
    declarations += fmt::format("    {} in{};\n", type_of(operand), operand.tensor);
    loads += plan::is_kept(plan_, rows, operand) ? load_kept(operand) : load_of(operand);
  }
  loads += places(asked);
  const std::string asking = loads + accesses;
  if (asking.empty()) return declarations;
  return indented(row_coordinates(), 2) + valid_of_vector(asking) + declarations + loads;
}

/// The elements of a vector that exist, unless it knows them itself.
std::string HeaderWriter::valid_of_vector(const std::string& accesses) const {
  const bool along = rows_->along();
  if ((along && plan_.ragged) || !mentions(accesses, "valid")) return {};
  return !along && plan_.ragged ? "    const int valid = row.valid;\n"
                                : "    constexpr int valid = kVector;\n";
}

bool HeaderWriter::keeps_inputs() const {
  return rows_ && plan::kept_bytes(plan_, *rows_) > 0;
}

/// The copies of what all rows share to a block's shared memory: one operand's part behind
/// another's.
void HeaderWriter::write_kept() {
  const plan::Rows& rows = *rows_;
  line("extern __shared__ __align__(16) unsigned char kept_inputs[];\n");
  line("// A row's vector v among those of its block.");
  line("TILE_DEVICE int number_in_block(Index v) {");
  line("  return int(v / (kLanes * kCluster)) * kLanes + int(v % kLanes);\n}\n");
  line("TILE_DEVICE void fetch_kept(const Params& p, int rank, u64* full) {");
  line(fmt::format("  fetch_promise<{}, kLanes, kCluster, kHeld>(row_length(p), rank, full);",
                   plan::kept_bytes(plan_, rows) / (rows.lanes * rows.held)));
  for (const Operand& operand : plan_.operands) {
    if (!plan::is_kept(plan_, rows, operand)) continue;
    line(fmt::format(
        "  fetch_vectors<{}, kLanes, kCluster, kHeld>(kept_inputs + {}, p.t{}, "
        "row_length(p), rank, full);",
        plan_.vector * size_bytes(operand.dtype), place_of_kept(operand), operand.tensor));
  }
  line("}\n");
}

/// Where a block's part of the operand lies in what is kept, in bytes.
int HeaderWriter::place_of_kept(const Operand& operand) const {
  const plan::Rows& rows = *rows_;
  int bytes = 0;
  for (const Operand& before : plan_.operands) {
    if (before.tensor == operand.tensor) break;
    if (plan::is_kept(plan_, rows, before)) bytes += plan_.vector * size_bytes(before.dtype);
  }
  return bytes * rows.lanes * rows.held;
}

std::string HeaderWriter::load_kept(const Operand& operand) const {
  return fmt::format(
      "    in{}.load(reinterpret_cast<const {}*>(kept_inputs + {}) + number_in_block(v) * "
      "kVector);\n",
      operand.tensor, storage_type(operand.dtype), place_of_kept(operand));
}

void HeaderWriter::write_row_vector() {
  const bool along = rows_->along(), partial = along && plan_.ragged;
  line("// kVector neighbours along mode 0, of every operand.");
  line("struct Vector {");
  for (const Operand& operand : plan_.operands) {
    if (!belongs(operand, Part::direct_loads)) continue;
    line(fmt::format("  {} in{};", type_of(operand), operand.tensor));
  }
  if (partial) line("  int valid;  // elements that exist");
  line("\n  TILE_DEVICE void load(const Params& p, const Row& row, Index v) {");
  const std::string loads = accesses(Part::direct_loads);
  if (partial || !loads.empty()) out_ += indented(row_coordinates(), 2) + valid_of_vector(loads);
  if (partial) {
    line(fmt::format("    const i64 rest = {} - i64(c0) * kVector;",
                     value_of(plan_.extents.front())));
    line("    valid = rest < kVector ? int(rest) : kVector;");
  }
  out_ += loads;
  line("  }");

  for (int stage = 0; stage < stages_.count; ++stage) {
    const std::string accumulator = fmt::format("Stage{}", stage);
    if (const Operand* words = extremum_of_words(stage)) {
      write_word_fold(stage, *words);
    } else {
      write_fold(accumulator, asked_by_stage(stage), false);
    }
    if (!stages_.rescaled(plan_.program, stage).empty()) {
      write_fold(accumulator, asked_by(stages_.needed_for_rescaled(plan_.program, stage)), true);
    }
  }
  if (direction_) return write_scan_map();

  line("  TILE_DEVICE void map(const Params& p, const Row& row, Index v,");
  line("                       const Results (&r)[kAcross]) const {");
  const std::string stores = accesses(Part::direct_stores);
  if (!stores.empty()) {
    out_ += pass_start(asked_by_formula(), stores);
    for (const Operand& operand : plan_.operands) {
      if (!writes_elements(operand)) continue;
      line(fmt::format("    {} out{};", type_of(operand), operand.tensor));
    }
    write_groups();
    out_ += stores;
  }
  line("  }\n};\n");
}

/// How what is asked of a vector's elements comes to accumulators of type `accumulator`: to its
/// sums below a maximum, or to all others.
void HeaderWriter::write_fold(const std::string& accumulator, const Asked& asked, bool below) {
  const bool along = rows_->along(), partial = along && plan_.ragged;
  line("  TILE_DEVICE void fold(const Params& p, const Row& row, Index v,");
  line(
      fmt::format("                        const Results (&r)[kAcross], {} (&a)[kAcross]{}) "
                  "const {{",
                  accumulator, below ? ", Below" : ""));
  out_ += pass_start(asked, "");
  line("#pragma unroll");
  line(fmt::format("    for (int e = 0; e < kVector; e += {}) {{", group()));
  for (const Operand& operand : plan_.operands) write_unpacking(operand, asked, false);
  for (int i = 0; i < group(); ++i) {
    const std::string at = along ? "0" : i == 0 ? "e" : fmt::format("e + {}", i);
    const std::string exists = partial ? fmt::format("if (e + {} < valid) ", i) : "";
    write_call(i, fmt::format("{}a[{}].fold{}", exists, at, below ? "_below" : ""),
               fmt::format("p, r[{}]", at), asked, false);
  }
  line("    }\n  }");
}

/// The extremum of a vector's words comes to the accumulator, element by element.
void HeaderWriter::write_word_fold(int stage, const Operand& operand) {
  const NodeId id = stages_.folded(plan_.program, stage).front();
  const bool is_max = plan_.program.nodes[static_cast<std::size_t>(id)].op == Op::reduce_max;
  const int k = operand.tensor;
  const std::string_view type = storage_type(operand.dtype);
  line("  TILE_DEVICE void fold(const Params& p, const Row& row, Index v,");
  line(fmt::format(
      "                        const Results (&r)[kAcross], Stage{} (&a)[kAcross]) const {{",
      stage));
  line(fmt::format("    u32 words = in{}.word[0];\n#pragma unroll", k));
  line(fmt::format(
      "    for (int w = 1; w < kVector / 2; ++w) words = {}_words<{}>(words, in{}.word[w]);",
      is_max ? "max" : "min", type, k));
  line(fmt::format("    float x{0}[2];\n    unpack_word<{1}>(words, x{0});", k, type));
  line(fmt::format("    a[0].fold(p, r[0], x{0}[0]);\n    a[0].fold(p, r[0], x{0}[1]);\n  }}", k));
}

/// The outputs of one element a row, and what else they are made of.
void HeaderWriter::write_row_store() {
  const bool along = rows_->along();
  const std::vector<expr::Store> row_stores = stores_of(true);
  const std::vector<bool> needed = needed_for_stores(row_stores);
  const Asked asked = asked_by(needed);
  line("TILE_DEVICE void store_row(const Params& p, const Row& row,");
  line("                           const Results (&results)[kAcross]) {");
  if (row_stores.empty()) return line("}");
  line("  for (int e = 0; e < kAcross; ++e) {");
  if (!along && plan_.ragged) line("    if (e >= row.valid) break;");
  line("    const Results& r = results[e];");
  const auto element_of = [&](const Operand& operand) {
    std::string offset = offset_of(operand);
    const plan::OperandMode& innermost = operand.modes.front();
    if (!along && innermost.size() == 1 && !innermost[0].stride.is(0)) {
      offset += fmt::format(" + e * {}", value_of(innermost[0].stride));
    }
    return fmt::format("p.t{}[{}]", operand.tensor, offset.empty() ? "0" : offset.substr(3));
  };
  std::string loads, stores;
  for (const Operand& operand : plan_.operands) {
    const int k = operand.tensor;
    const std::string_view type = expr::compute_type(operand.dtype);
    if (asked.tensors[static_cast<std::size_t>(k)])
      loads += fmt::format("    const {} t{} = to_compute({});\n", type, k, element_of(operand));
    if (!operand.per_row) continue;
    loads += fmt::format("    {} y{};\n", type, k);
    stores += fmt::format("    {} = store_as<{}>(y{});\n", element_of(operand),
                          storage_type(operand.dtype), k);
  }
  for (std::size_t k = 0; k < plan_.places.size(); ++k) {
    if (!asked.places[k]) continue;
    const std::string offset = offset_of(plan_.places[k].modes);
    loads += fmt::format("    const i64 n{} = {} + {} * e;\n", k,
                         offset.empty() ? "0" : offset.substr(3),
                         along ? "0" : place_stride(plan_.places[k]));
  }
  for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
    if (!mentions(loads + stores, fmt::format("c{}", m))) continue;
    line(rows_->reduces(m) ? fmt::format("    constexpr i64 c{} = 0;", m)
                           : fmt::format("    const i64 c{0} = row.c{0};", m));
  }
  out_ += loads;
  write_values(
      {.nodes = needed, .stores = row_stores, .given = [this](NodeId id) { return given(id); }}, 4);
  out_ += stores;
  line("  }\n}");
}

}  // namespace tilejit::render
