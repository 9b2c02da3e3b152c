#include "render/combining_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "render/combination.hpp"
#include "rows/rows.hpp"

namespace tilejit::render {

using expr::Node;
using expr::NodeId;
using plan::Operand;

void CombiningWriter::write_constants() {
  write_block();
  line("");
}

void CombiningWriter::write_before_formula() {
  write_row();
  write_results();
  if (!passes_.held_nodes().empty() && !holds_values_of_row()) write_hold();
  for (int pass = 0; pass < passes_.count; ++pass) write_pass(pass);
  write_pass_list();
  if (direction_) write_scans();
}

bool CombiningWriter::is_loaded(const Operand& operand) const {
  return plan::is_loaded_with_row(plan_, rows_, operand) && !comes_with_row(operand);
}

expr::Slice CombiningWriter::formula() const {
  std::vector<expr::Store> stores = stores_of(false);
  std::vector<bool> nodes = needed_for_stores(stores, passes_);
  return {.nodes = std::move(nodes), .stores = std::move(stores), .given = [this](NodeId id) {
            return given(id);
          }};
}

std::string CombiningWriter::given(NodeId id) const {
  const Node& node = node_of(id);
  if (passes_.is_result(plan_.program, id)) return fmt::format("r.v{}", id);
  if (passes_.is_held(id)) return fmt::format("h{}", id);
  if (const auto divided = divided_by_held(node); !divided.empty()) return divided;
  if (expr::is_scan(node.op)) return fmt::format("a.next{}(v{})", id, node.args[0]);
  return HeaderWriter::given(id);
}

std::string CombiningWriter::own_parameters(bool outputs) const {
  std::string parameters =
      direction_ && outputs ? ", const Results& r, Scans& a" : ", const Results& r";
  for (const NodeId id : passes_.held_nodes())
    parameters += fmt::format(", {} h{}", held_type(id), id);
  return parameters;
}

std::string CombiningWriter::own_arguments(int i) const {
  return (rows_.along() ? ", r[0]" : fmt::format(", r[e + {}]", i)) + held_arguments(i);
}

bool CombiningWriter::has_outputs(bool per_row) const {
  return std::ranges::any_of(plan_.operands, [&](const Operand& operand) {
    return operand.written && operand.per_row == per_row;
  });
}

Code CombiningWriter::offset_among(const std::vector<plan::OperandMode>& modes, Among among) const {
  Code offset;
  for (std::size_t m = 0; m < modes.size(); ++m) {
    if (rows_.reduces(m) == (among == Among::reduced)) offset += share_of(modes[m], m);
  }
  return offset;
}

std::string CombiningWriter::decode(const std::string& index, std::size_t first, std::size_t count,
                                    const std::string& type, const std::string& target) const {
  std::string text, from = index;
  for (std::size_t m = first; m < first + count; ++m) {
    const std::string to =
        target.empty() ? fmt::format("const {} c{}", type, m) : fmt::format("{}c{}", target, m);
    if (m + 1 == first + count) return text + fmt::format("  {} = {};\n", to, from);
    const std::string rest = fmt::format("rest{}", m + 1);
    const auto [units, quotient] = split_at(m, m == 0 ? elements_of_unit() : 1, from, type);
    text += fmt::format("  const {} {} = {};\n  {} = {} - {} * {};  // {}\n", type, rest, quotient,
                        to, from, rest, units, to_string(plan_.extents[m]));
    from = rest;
  }
  return text;
}

void CombiningWriter::write_row() {
  const bool in_place = std::ranges::any_of(
      plan_.operands, [](const Operand& operand) { return operand.per_row && operand.read; });
  line(fmt::format("using Index = {};  // of the vectors of a row",
                   plan::has_short_rows(plan_) ? "u32" : "u64"));
  line(fmt::format("enum : bool {{ kAlong = {} }};", rows_.along()));
  line(fmt::format("enum : int {{ kAcross = {} }};  // rows of a thread",
                   rows_.along() ? 1 : plan_.vector));
  line(fmt::format("enum : int {{ kRowThreads = {} }};  // threads of a block that share a row",
                   rows_.row_threads));
  write_sharing();
  line(fmt::format("enum : bool {{ kFullOutputs = {} }};", has_outputs(false)));
  line(fmt::format("enum : bool {{ kRowOutputs = {} }};", has_outputs(true)));
  line(fmt::format("enum : bool {{ kRowsInPlace = {} }};\n", in_place));
  write_partials();
  write_row_struct();
  write_row_length();
}

void CombiningWriter::write_row_struct() {
  if (holds_values_of_row()) write_hold();
  const std::size_t rank = plan_.extents.size();
  const std::size_t kept = rows_.along() ? rows_.count : 0, kept_count = rank - rows_.count;
  line("struct Row {");
  for (std::size_t m = kept; m < kept + kept_count; ++m) line(fmt::format("  i64 c{};", m));
  if (!rows_.along() && plan_.ragged) line("  int valid;");
  out_ += row_members();
  Code starts;
  for (const Operand& operand : plan_.operands) {
    if (!has_row_start(operand)) continue;
    line(fmt::format("  const {}* from{};", expr::storage_type(operand.dtype), operand.tensor));
    Code start = offset_among(operand.modes, Among::kept);
    start.text = fmt::format(
        "  row.from{0} = {1}{2};\n"
        "  asm(\"\" : \"+l\"(row.from{0}));  // here, not before each load\n",
        operand.tensor, base_of(operand), start.text);
    starts += start;
  }
  write_inputs_of_row();
  line("};\n\nTILE_DEVICE Row row_at(const Params& p, u32 index) {\n  Row row;");
  out_ += decode("index", kept, kept_count, "u32", "row.");
  if (!rows_.along() && plan_.ragged) {
    line(fmt::format("  const i64 rest = {} - row.c0 * kVector;", value_of(plan_.extents.front())));
    line("  row.valid = rest < kVector ? int(rest) : kVector;");
  }
  const Code loads = loads_of_row(), accesses = starts + loads;
  for (const std::size_t m : accesses.coordinates) {
    line(fmt::format("  const i64 c{0} = row.c{0};", m));
  }
  if (accesses.valid)
    line(plan_.ragged ? "  const int valid = row.valid;" : "  constexpr int valid = kVector;");
  out_ += starts.text;
  write_loads_of_row(loads);
  line("  return row;\n}\n");
}

void CombiningWriter::write_row_length() {
  std::string vectors;
  for (std::size_t m = rows_.first; m < rows_.first + rows_.count; ++m) {
    const std::string extent = value_of(plan_.extents[m]);
    vectors += vectors.empty() ? "" : " * ";
    vectors += m == 0 && plan_.vector > 1
                   ? fmt::format("(({} + {}) / kVector)", extent,
                                 plan_.peeled ? "2 * (kVector - 1)" : "kVector - 1")
                   : extent;
  }
  line("// In vectors.");
  line(fmt::format("TILE_DEVICE Index row_length(const Params& p) {{\n  return Index({});\n}}\n",
                   vectors));
}

/// The values that reductions give, and the values made of them once per row, by node.
void CombiningWriter::write_results() {
  line("struct Results {");
  for (std::size_t i = 0; i < plan_.program.nodes.size(); ++i) {
    const Node& node = plan_.program.nodes[i];
    if (!passes_.is_result(plan_.program, static_cast<NodeId>(i))) continue;
    line(fmt::format("  {} v{};", expr::compute_type(node.type), i));
  }
  line("};\n");
}

/// The coordinates of a vector's first element: those of its row, and those that follow from `v`.
std::string CombiningWriter::row_coordinates() const {
  std::string text;
  for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
    if (!rows_.reduces(m)) text += fmt::format("  const i64 c{0} = row.c{0};\n", m);
  }
  return text + decode("v", rows_.first, rows_.count, "Index", "");
}

int CombiningWriter::rows_at_once(const Operand& operand) const {
  if (rows_.along() || !operand.per_row || operand.reach != plan::Reach::contiguous) return 1;
  return std::min(plan_.vector, operand.access_bytes / size_bytes(operand.dtype));
}

Code CombiningWriter::element_of_row(const Operand& operand) const {
  Code element = offset_of(operand.modes);
  std::string& offset = element.text;
  const plan::OperandMode& innermost = operand.modes.front();
  if (!rows_.along() && innermost.size() == 1 && !innermost[0].stride.is(0)) {
    offset += fmt::format(" + e * {}", value_of(innermost[0].stride));
  }
  offset = fmt::format("{}[{}]", base_of(operand), offset.empty() ? "0" : offset.substr(3));
  return element;
}

CombiningWriter::RowAccesses CombiningWriter::accesses_of_row(const Asked& asked) const {
  RowAccesses accesses;
  for (const Operand& operand : plan_.operands) {
    const int k = operand.tensor;
    const std::string_view type = expr::compute_type(operand.dtype);
    Code code = element_of_row(operand);
    const std::string element = std::move(code.text);
    if (asked.tensors[static_cast<std::size_t>(k)]) {
      code.text = fmt::format("    const {} t{} = to_compute({});\n", type, k, element);
      accesses.loads += code;
    }
    if (!operand.per_row) continue;
    accesses.loads.text += fmt::format("    {} y{};\n", type, k);
    const std::string_view storage = expr::storage_type(operand.dtype);
    if (operand.combined) {
      const std::string total = fmt::format("totals.t{}", k);
      accesses.stores.text += fmt::format("    {} = {};\n", total,
                                          combination_of(operand, total, fmt::format("y{}", k)));
    } else if (const int rows = rows_at_once(operand); rows > 1) {
      accesses.pieces +=
          fmt::format("  Contiguous<{0}, {1}> piece{2}[kAcross / {1}];\n", storage, rows, k);
      accesses.stores.text += fmt::format(
          "    piece{0}[e / {1}].element[e % {1}] = store_as<{2}>(y{0});\n", k, rows, storage);
      accesses.behind += store_of_pieces(operand);
    } else {
      code.text = fmt::format("    {} = store_as<{}>(y{});\n", element, storage, k);
      accesses.stores += code;
    }
  }
  for (std::size_t k = 0; k < plan_.places.size(); ++k) {
    if (!asked.places[k]) continue;
    Code place = offset_of(plan_.places[k].modes);
    place.text = fmt::format("    const i64 n{} = {} + {} * e;\n", k,
                             place.text.empty() ? "0" : place.text.substr(3),
                             rows_.along() ? "0" : place_stride(plan_.places[k]));
    accesses.loads += place;
  }
  return accesses;
}

Code CombiningWriter::store_of_pieces(const Operand& operand) const {
  const int k = operand.tensor, rows = rows_at_once(operand);
  Code code = offset_of(operand.modes);
  const std::string valid =
      plan_.ragged ? fmt::format(", row.valid - e < {0} ? row.valid - e : {0}", rows) : "";
  code.text = fmt::format(
      "#pragma unroll\n"
      "  for (int e = 0; e < kAcross; e += {0}) piece{1}[e / {0}].store(p.t{1}{2} + e{3});\n",
      rows, k, code.text, valid);
  return code;
}

bool CombiningWriter::combines_rows() const {
  return std::ranges::any_of(plan_.operands,
                             [](const Operand& operand) { return operand.combined.has_value(); });
}

std::string CombiningWriter::combination_of(const Operand& operand, const std::string& a,
                                            const std::string& b) {
  return expr::emit_combination({.op = *operand.combined, .type = operand.dtype}, a, b);
}

/// Writes what threads combine of the rows of a block.
void CombiningWriter::write_row_totals() {
  std::string members, combines, stores;
  for (const Operand& operand : plan_.operands) {
    if (!operand.combined) continue;
    const std::string own = fmt::format("t{}", operand.tensor);
    members += fmt::format("  float {} = {};\n", own,
                           identity({.op = *operand.combined, .type = operand.dtype}));
    combines += fmt::format("    {} = {};\n", own, combination_of(operand, own, "other." + own));
    stores += fmt::format("    p.{0}[blockIdx.x] = {0};\n", own);
  }
  line("#define COMBINES_ROWS 1  // an element per block is left of their results");
  line("struct RowTotals {\n  enum : bool { kExtremum = false };\n" + members);
  line("  TILE_DEVICE void combine(const RowTotals& other) {\n" + combines + "  }");
  line("  TILE_DEVICE void store(const Params& p) const {\n" + stores + "  }\n};\n");
}

/// Writes the outputs of one element per row, and the other values of which they are made.
void CombiningWriter::write_row_store() {
  const std::vector<expr::Store> row_stores = stores_of(true);
  const std::vector<bool> needed = needed_for_row_stores(row_stores);
  const bool combines = combines_rows();
  if (combines) write_row_totals();
  line("TILE_DEVICE void store_row(const Params& p, const Row& row,");
  line(fmt::format("                           const Results (&results)[kAcross]{}) {{",
                   combines ? ", RowTotals& totals" : ""));
  if (row_stores.empty()) return line("}");
  const auto [pieces, loads, stores, behind] = accesses_of_row(asked_by(needed));
  const auto write_coordinates = [&](const Code& code, const char* indent) {
    for (const std::size_t m : code.coordinates) {
      line(indent + (rows_.reduces(m) ? fmt::format("constexpr i64 c{} = 0;", m)
                                      : fmt::format("const i64 c{0} = row.c{0};", m)));
    }
  };
  out_ += pieces;
  if (!pieces.empty()) line("#pragma unroll");
  line("  for (int e = 0; e < kAcross; ++e) {");
  if (!rows_.along() && plan_.ragged) line("    if (e >= row.valid) break;");
  line("    const Results& r = results[e];");
  write_coordinates(loads + stores, "    ");
  out_ += loads.text;
  write_values({.nodes = needed,
                .stores = row_stores,
                .given =
                    [this](NodeId id) {
                      return passes_.is_result(plan_.program, id) ? given(id)
                                                                  : HeaderWriter::given(id);
                    }},
               4);
  out_ += stores.text;
  line("  }");
  write_coordinates(behind, "  ");
  out_ += behind.text;
  line("}");
}

std::vector<expr::Store> CombiningWriter::stores_of(bool per_row) const {
  std::vector<expr::Store> stores = plan_.program.stores;
  std::erase_if(stores, [&](const expr::Store& store) {
    return plan_.operands[static_cast<std::size_t>(store.tensor)].per_row != per_row;
  });
  return stores;
}

std::vector<bool> CombiningWriter::needed_for_row_stores(
    const std::vector<expr::Store>& stores) const {
  return needed_for_stores(stores, passes_.without_held());
}

std::vector<bool> CombiningWriter::needed_for_stores(const std::vector<expr::Store>& stores,
                                                     const Passes& passes) const {
  std::vector<NodeId> roots;
  for (const expr::Store& store : stores) {
    if (!passes_.is_result(plan_.program, store.value)) roots.push_back(store.value);
  }
  std::vector<bool> needed = passes.needed_for(plan_.program, roots);
  for (const expr::Store& store : stores) needed[static_cast<std::size_t>(store.value)] = true;
  return needed;
}

}  // namespace tilejit::render
