#include "attention/work_writer.hpp"

#include <fmt/format.h>

#include "matmul/matmul_writer.hpp"

namespace tilejit::render {
namespace {

std::string function_text(std::string_view type, std::string_view head, const std::string& value) {
  return fmt::format("  static TILE_DEVICE {} {} {{\n    return {};\n  }}\n", type, head, value);
}

}  // namespace

std::string AttentionWork::constants(bool may_be_cut) const {
  return fmt::format("  static constexpr int kM = {}, kN = {}, kKeys = {}, kColumns = {};\n",
                     product.tile.m, product.tile.n, product.tile.k, weights.padded_depth) +
         "  static constexpr int kProducts = 1;\n"
         "  static constexpr bool kStatistic = false;\n" +
         fmt::format("  static constexpr Checks kChecks = Checks::{};\n", checks) +
         fmt::format("  static constexpr u32 kExponents = {};\n",
                     product.a.dtype == bf16 ? "0x7f807f80u" : "0x7c007c00u") +
         fmt::format("  static constexpr float kBase = {};\n",
                     weights.scores.attention.base_two ? "1.f" : "1.44269504f") +
         fmt::format("  static constexpr bool kHasMask = {}, kMayBeCut = {};\n", weights.has_mask(),
                     may_be_cut) +
         fmt::format("  using Element = {};\n", expr::storage_type(product.a.dtype));
}

std::string AttentionWork::functions() const {
  const std::string m = value_of(plan.extents[product.along_m ? 0 : 1]),
                    n = value_of(plan.extents[product.along_m ? 1 : 0]);
  std::string heads = "1";
  for (std::size_t i = 2; i < plan.extents.size(); ++i)
    heads += fmt::format(" * u32({})", value_of(plan.extents[i]));
  const plan::OperandSource& values = product.b;
  std::string at = index_text(values.outer, "i64(column)", value_of) + " + " +
                   index_text(values.inner, "i64(key)", value_of);
  for (std::size_t i = 0; i < values.batch.size(); ++i) {
    const std::string coordinate = fmt::format("tile.c{}", 1 + values.batch.size() - i);
    const std::string index = index_text(values.batch[i], coordinate, value_of);
    if (index != "0") at += " + " + index;
  }
  const int bytes = (weights.padded_depth + product.tile.n) * size_bytes(product.a.dtype);
  return function_text("i64", "extent_m(const Params& p)", m) +
         function_text("i64", "extent_n(const Params& p)", n) +
         function_text("i64", "extent_k(const Params& p)", value_of(product.k)) +
         function_text("float", "value(const Params& p, const Tile& tile, i32 key, i32 column)",
                       fmt::format("to_compute(p.t1[{}])", at)) +
         function_text("u32", "rows(const Params& p)",
                       fmt::format("u32(({} + {}) / {})", m, product.tile.m - 1, product.tile.m)) +
         function_text("u32", "heads(const Params& p)", heads) +
         function_text("i64", "bytes_of_head(const Params& p)",
                       fmt::format("extent_k(p) * {}", bytes)) +
         "  using MaskTensors = Tensors;\n"
         "  static TILE_DEVICE Truth mask(const Params& p, const Tile& tile, const Tensors& "
         "tensors,\n"
         "                                i64 first, i64 last) {\n"
         "    return mask_of(p, tile, tensors, first, last);\n  }\n"
         "  using ScoreFormula = Scores;\n  using RowFormula = Rows;\n";
}

}  // namespace tilejit::render
