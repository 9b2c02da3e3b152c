#include "attention/attention_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "atoms/emit_mma.hpp"
#include "attention/interval_writer.hpp"
#include "layout/emit.hpp"

namespace tilejit::render {
namespace {

constexpr int kColumnsOfBox = 64;

}  // namespace

std::vector<std::string_view> AttentionWriter::own_headers() const {
  return {"contiguous", "wide", "warpgroup_attention",
          wgmma_.words > 0 ? "sums_by_words" : "sums_by_vectors"};
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
  write_rows();
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

/// What a masked key needs that its values are checked. A tensor may have -infinity for some keys.
std::string_view AttentionWriter::checks() const {
  const formula::Attention& of = attention_.scores.attention;
  for (const plan::ScoreTensor* const tensor : tensors_of({of.score})) {
    const DType dtype = plan_.operands[static_cast<std::size_t>(tensor->tensor)].dtype;
    if (tensor->varies(0) && is_floating(dtype)) return "all";
  }
  return of.masks.empty() ? "none" : "masked";
}

void AttentionWriter::write_value() {
  const plan::OperandSource& values = attention_.b;
  std::string at =
      index_of(values.outer, "i64(column)") + " + " + index_of(values.inner, "i64(key)");
  for (std::size_t i = 0; i < values.batch.size(); ++i) {
    const std::string coordinate = fmt::format("tile.c{}", 1 + values.batch.size() - i);
    const std::string index = index_of(values.batch[i], coordinate);
    if (index != "0") at += " + " + index;
  }
  line(
      "  static TILE_DEVICE float value(const Params& p, const Tile& tile, i32 key, i32 column) {");
  line(fmt::format("    return to_compute(p.t1[{}]);\n  }}", at));
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
  line(fmt::format("  static constexpr int kStagesOfQ = {}, kStages = {}, kConsumers = {};",
                   attention_.stages_of_q, tile.stages, wgmma_.consumers()));
  line("  static constexpr int kProducts = 1;\n  static constexpr bool kStatistic = false;");
  line(fmt::format("  static constexpr Checks kChecks = Checks::{};", checks()));
  const bool may_be_cut = !attention_.k.is_known() || attention_.k.value() % tile.k != 0;
  line(fmt::format("  static constexpr bool kHasMask = {}, kMayBeCut = {};", attention_.has_mask(),
                   may_be_cut));
  line(fmt::format("  static constexpr u32 kExponents = {};",
                   attention_.a.dtype == bf16 ? "0x7f807f80u" : "0x7c007c00u"));
  line(fmt::format("  static constexpr float kBase = {};",
                   attention_.scores.attention.base_two ? "1.f" : "1.44269504f"));
  line(fmt::format("  using Element = {};", expr::storage_type(attention_.a.dtype)));
  line("  using MmaScores = MmaOfScores;\n  using Product = Mma;");
  line("  using SharedQ = TileQ;\n  using SharedK = TileK;\n  using SharedV = TileV;");
  line("  using BoxesQ = SourceQ;\n  using BoxesK = SourceK;\n  using BoxesV = SourceV;");
  write_finish();
  for (const auto& [name, extent] :
       {std::pair("extent_m", extent_m()), std::pair("extent_n", extent_n()),
        std::pair("extent_k", attention_.k)}) {
    line(fmt::format("  static TILE_DEVICE i64 {}(const Params& p) {{\n    return {};\n  }}", name,
                     value_of(extent)));
  }
  write_value();
  line(
      fmt::format("  static TILE_DEVICE u32 rows(const Params& p) {{\n    return u32(({} + {}) / "
                  "{});\n  }}",
                  value_of(extent_m()), tile.m - 1, tile.m));
  line(fmt::format("  static TILE_DEVICE u32 heads(const Params& p) {{\n    return {};\n  }}",
                   heads));
  line("  static TILE_DEVICE i64 bytes_of_head(const Params& p) {");
  line(fmt::format("    return extent_k(p) * {};\n  }}",
                   (attention_.columns + tile.n) * size_bytes(attention_.a.dtype)));
  line("  static TILE_DEVICE Tile tile_at(const Params& p, u32 number) {");
  line("    return find_tile(p, number, 0);\n  }");
  if (attention_.has_mask()) {
    line("  static TILE_DEVICE u32* tickets(const Params& p) {");
    line("    return reinterpret_cast<u32*>(p.tickets);\n  }");
  }
  line("  using MaskTensors = Tensors;");
  line(
      "  static TILE_DEVICE Truth mask(const Params& p, const Tile& tile, const Tensors& tensors,");
  line("                                i64 first, i64 last) {");
  line("    return mask_of(p, tile, tensors, first, last);\n  }");
  line("  using ScoreFormula = Scores;\n  using RowFormula = Rows;\n};");
}

}  // namespace tilejit::render
