#include "attention/attention_writer.hpp"

#include <fmt/format.h>

#include "atoms/emit_mma.hpp"

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
  out_ += scores_.write();
  write_attention_work();
}

void AttentionWriter::write_operands() {
  constexpr int kRowsOfInstruction = 64, kDepth = 16;
  out_ += without_namespace(
      atoms::emit(attention_.score_atom, "MmaOfScores", {}, attention_.padded_depth / kDepth));
  out_ += without_namespace(atoms::emit(attention_.atom, "Mma",
                                        {.a = atoms::Major::k, .b = atoms::Major::mn},
                                        attention_.tile.k / kDepth));
  const atoms::SharedTile keys = plan::key_tile(attention_), values = plan::value_tile(attention_);
  out_ += without_namespace(
      atoms::emit(plan::query_tile(attention_), "TileQ", kRowsOfInstruction, kDepth));
  out_ += without_namespace(atoms::emit(keys, "TileK", keys.mn, kDepth));
  out_ += without_namespace(atoms::emit(values, "TileV", values.mn, kDepth));
  write_places();
  write_source('Q', attention_.a, attention_.padded_depth, attention_.tile.m, "i32(tile.m)");
  write_source('K', attention_.keys, attention_.padded_depth, attention_.tile.k, "first");
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

void AttentionWriter::write_attention_work() {
  const AttentionWork work = scores_.work();
  line("// What tile/warpgroup_attention.cuh does.");
  line("struct Work {");
  out_ += work.constants(!attention_.k.is_known() || attention_.k.value() % attention_.tile.k != 0);
  line(fmt::format("  static constexpr int kStagesOfQ = {}, kStages = {}, kConsumers = {};",
                   attention_.stages_of_q, attention_.tile.stages, wgmma_.consumers()));
  line("  using MmaScores = MmaOfScores;\n  using Product = Mma;");
  line("  using SharedQ = TileQ;\n  using SharedK = TileK;\n  using SharedV = TileV;");
  line("  using BoxesQ = SourceQ;\n  using BoxesK = SourceK;\n  using BoxesV = SourceV;");
  write_finish();
  out_ += work.functions();
  line("  static TILE_DEVICE Tile tile_at(const Params& p, u32 number) {");
  line("    return find_tile(p, number, 0);\n  }");
  if (attention_.has_mask()) {
    line("  static TILE_DEVICE u32* tickets(const Params& p) {");
    line("    return reinterpret_cast<u32*>(p.tickets);\n  }");
  }
  line("};");
}

}  // namespace tilejit::render
