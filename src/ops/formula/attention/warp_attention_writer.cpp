#include "attention/warp_attention_writer.hpp"

#include <fmt/format.h>

#include "atoms/emit_mma.hpp"

namespace tilejit::render {

std::vector<std::string_view> WarpAttentionWriter::own_headers() const {
  return {"contiguous",  "wide",      "dependent",      "warp_attention",
          "head_groups", "grid_tile", "sums_by_vectors"};
}

bool WarpAttentionWriter::is_loaded(const plan::Operand& operand) const {
  return MatmulWriter::is_loaded(operand) && operand.tensor < attention_.key_tensor;
}

void WarpAttentionWriter::write_before_formula() {
  out_ += expr::emit_cuda_functions(attention_.scores.program);
}

void WarpAttentionWriter::write_tiles() {
  out_ += without_namespace(atoms::emit(attention_.atom, "Mma"));
}

void WarpAttentionWriter::write_behind_formula() {
  write_tiles();
  write_places();
  write_vector();
  out_ += scores_.write();
  write_attention_work();
}

void WarpAttentionWriter::write_matrix(const std::string& name, int tensor,
                                       const plan::OperandSource& source) {
  std::string begin;
  for (std::size_t i = 0; i < source.batch.size(); ++i) {
    const std::string at = fmt::format("tile.c{}", 1 + source.batch.size() - i);
    const std::string index = index_of(source.batch[i], at);
    if (index != "0") begin += " + " + index;
  }
  line(
      fmt::format("  static TILE_DEVICE const Element* {}(const Params& p, const Tile& tile) {{\n"
                  "    return p.t{}{};\n  }}",
                  name, tensor, begin));
  const std::vector<Mode>& across = source.major == atoms::Major::k ? source.outer : source.inner;
  line(
      fmt::format("  static TILE_DEVICE i64 stride_of_{}(const Params& p) {{\n    return {};\n  }}",
                  name, value_of(across.front().stride)));
}

void WarpAttentionWriter::write_attention_work() {
  const plan::TileShape& tile = attention_.tile;
  const AttentionWork work = scores_.work();
  line("// What tile/warp_attention.cuh does.");
  line("struct Work {");
  // Also if it is never cut: where the test of masked blocks is left out, ptxas spills a register.
  constexpr bool kMayBeCut = true;
  out_ += work.constants(kMayBeCut);
  line(fmt::format("  static constexpr int kDepth = {}, kWidth = {}, kWarps = {}, kSlots = {};",
                   attention_.depth.value(), extent_n().value(), tile.warps_m, tile.stages));
  line("  using Product = Mma;\n  using Place = ResultPlace;");
  write_sums_by_vectors(attention_.panel, attention_.along_m);
  write_matrix("queries", 0, attention_.a);
  write_matrix("keys", attention_.key_tensor, attention_.keys);
  write_matrix("values", 1, attention_.b);
  out_ += work.functions();
  line("  static TILE_DEVICE Tile tile_at(const Params& p, u32 number) {");
  line("    const u32 group = heads_of_group(bytes_of_head(p));");
  line("    const TileOfHead at = tile_of_heads(number, rows(p), heads(p), group);");
  line("    return find_tile(p, at.head * rows(p) + at.row);\n  }\n};");
}

}  // namespace tilejit::render
