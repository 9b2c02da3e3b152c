// Products.
#include <algorithm>

#include "program/compiler.hpp"

namespace tilejit::program {
namespace {

struct Product {
  DType a, b, out;
};

/// What tensor cores and fused multiply-adds compute.
constexpr Product kProducts[] = {
    {f16, f16, f16},       {f16, f16, f32},       {bf16, bf16, f32},     {tf32, tf32, f32},
    {f32, f32, f32},       {f64, f64, f64},       {f8e4m3, f8e4m3, f32}, {f8e4m3, f8e4m3, f16},
    {f8e5m2, f8e5m2, f32}, {f8e5m2, f8e5m2, f16}, {f8e4m3, f8e5m2, f32}, {f8e5m2, f8e4m3, f32},
    {i8, i8, i32},         {i8, u8, i32},         {u8, i8, i32},         {u8, u8, i32}};

Extents shape_seen(const Extents& shape, bool transposed) {
  return transposed ? Extents{shape[1], shape[0]} : shape;
}

std::string operand_text(const std::string& name, bool transposed) {
  return "'" + name + (transposed ? ".T'" : "'");
}

}  // namespace

void Compiler::check_operand(const std::string& name, const TileBinding& tile,
                             std::string_view after) const {
  const TileType& type = scope_.code().tiles[static_cast<std::size_t>(tile.slot)].type;
  if (type.shape.size() != 2) {
    fail(name,
         "'" + name + "' is " + to_string(type.shape) +
             ", and an operand of GEMM has 2 axes; Reshape it",
         after);
  }
  refuse_ragged(tile, name, "GEMM", after);
  if (!tile.facts.product) return;
  fail(name,
       "'" + name +
           "' has the fragments of a product's result, and an operand has others; put 'Reshape " +
           name + " from (MMA_C, MMA_M, MMA_N) to (MMA_A, MMA_M, MMA_N_new)' before this line",
       after);
}

void Compiler::check_gemm_types(const TileGemm& gemm, DType a, DType b, DType out) const {
  const bool known = std::ranges::any_of(kProducts, [&](const Product& product) {
    return product.a == a && product.b == b && product.out == out;
  });
  if (known) return;
  std::string results;
  for (const Product& product : kProducts) {
    if (product.a != a || product.b != b) continue;
    results += (results.empty() ? "" : " or ") + std::string(to_string(product.out));
  }
  if (!results.empty()) {
    fail(gemm.out,
         "a product of " + std::string(to_string(a)) + " and " + std::string(to_string(b)) +
             " is " + results + ", and '" + gemm.out + "' is " + std::string(to_string(out)) +
             "; Allocate it as " + results,
         "and");
  }
  fail(gemm.b,
       "there is no product of " + std::string(to_string(a)) + " and " + std::string(to_string(b)) +
           "; operands have one type of f16, bf16, tf32, f32, f64, or 8 bits: cast one of "
           "them",
       ",");
}

void Compiler::check_gemm_shapes(const TileGemm& gemm, const TileBinding& a, const TileBinding& b,
                                 const TileBinding& out) const {
  const auto& tiles = scope_.code().tiles;
  const Extents& stored_a = tiles[static_cast<std::size_t>(a.slot)].type.shape;
  const Extents& stored_b = tiles[static_cast<std::size_t>(b.slot)].type.shape;
  const Extents seen_a = shape_seen(stored_a, gemm.a_transposed);
  const Extents seen_b = shape_seen(stored_b, gemm.b_transposed);
  const Extents& result = tiles[static_cast<std::size_t>(out.slot)].type.shape;
  const bool sums_fit = seen_a[1] == seen_b[0];
  const bool fits = sums_fit && result == Extents{seen_a[0], seen_b[1]};
  if (fits) return;
  const std::string shapes = operand_text(gemm.a, gemm.a_transposed) + " is " + to_string(seen_a) +
                             ", " + operand_text(gemm.b, gemm.b_transposed) + " is " +
                             to_string(seen_b) + " and '" + gemm.out + "' is " + to_string(result);
  // Whether another choice of transposed operands would fit.
  for (const auto& [ta, tb] : {std::pair(gemm.a_transposed, !gemm.b_transposed),
                               std::pair(!gemm.a_transposed, gemm.b_transposed),
                               std::pair(!gemm.a_transposed, !gemm.b_transposed)}) {
    const Extents one = shape_seen(stored_a, ta);
    const Extents two = shape_seen(stored_b, tb);
    if (one[1] != two[0] || result != Extents{one[0], two[1]}) continue;
    const bool is_b = tb != gemm.b_transposed;
    const std::string& name = is_b ? gemm.b : gemm.a;
    fail(name,
         shapes +
             ": the product sums over the last axis of the first and the first axis of the "
             "second; '.T' is the transposed view of a stored tile: write 'GEMM " +
             gemm.a + (ta ? ".T, " : ", ") + gemm.b + (tb ? ".T'" : "'"),
         is_b ? "," : "GEMM");
  }
  if (!sums_fit) {
    fail(gemm.b, shapes + ": the last axis of the first and the first axis of the second are equal",
         ",");
  }
  fail(gemm.out, shapes + ": the result is " + to_string(Extents{seen_a[0], seen_b[1]}), "and");
}

void Compiler::check_gemm_axes(const TileGemm& gemm, const TileBinding& a,
                               const TileBinding& b) const {
  if (a.facts.axes.size() != 2 || b.facts.axes.size() != 2) return;
  const auto axis = [](const TileBinding& tile, bool transposed, std::size_t i) {
    return tile.facts.axes[transposed ? 1 - i : i];
  };
  const std::string summed_a = axis(a, gemm.a_transposed, 1);
  const std::string summed_b = axis(b, gemm.b_transposed, 0);
  const std::string other_b = axis(b, gemm.b_transposed, 1);
  if (summed_a.empty() || summed_b.empty() || summed_a == summed_b) return;
  if (other_b != summed_a) return;
  fail(gemm.b,
       "the product would sum over " + summed_a + " of '" + gemm.a + "' and " + summed_b + " of '" +
           gemm.b + "', which is stored as (" + b.facts.axes[0] + ", " + b.facts.axes[1] +
           "); write '" + gemm.b + (gemm.b_transposed ? "'" : ".T'") +
           ": '.T' is the transposed view of a stored tile",
       ",");
}

void Compiler::gemm(const TileGemm& gemm, Steps& steps) {
  TileBinding& a = scope_.read_tile(gemm.a, place_, "GEMM");
  TileBinding& b = scope_.read_tile(gemm.b, place_, ",");
  check_operand(gemm.a, a, "GEMM");
  check_operand(gemm.b, b, ",");
  TileBinding* const out = scope_.find_tile(gemm.out, TileSpace::registers);
  if (out == nullptr) {
    const bool is_shared = scope_.find_tile(gemm.out, TileSpace::shared) != nullptr;
    fail(gemm.out,
         is_shared ? "'" + gemm.out + "' is in shared, and a product has its result in registers"
                   : "the result of GEMM is not allocated; put 'Allocate " + gemm.out +
                         " in register (..., ...) : f32 = 0' before the loop",
         "and");
  }
  if (gemm.accumulate && !out->facts.filled) {
    fail(gemm.out,
         "'" + gemm.out + "' has no values to accumulate to; Allocate it with '= 0', or 'get'",
         "and");
  }
  if (gemm.out == gemm.a || gemm.out == gemm.b) {
    fail(gemm.out, "the result of GEMM overwrites an operand; use another name", "and");
  }
  const auto& tiles = scope_.code().tiles;
  if (tiles[static_cast<std::size_t>(out->slot)].type.shape.size() != 2) {
    fail(gemm.out, "the result of GEMM has 2 axes", "and");
  }
  check_gemm_shapes(gemm, a, b, *out);
  check_gemm_axes(gemm, a, b);
  check_gemm_types(gemm, tiles[static_cast<std::size_t>(a.slot)].type.dtype,
                   tiles[static_cast<std::size_t>(b.slot)].type.dtype,
                   tiles[static_cast<std::size_t>(out->slot)].type.dtype);
  out->facts = {.filled = true, .product = true};
  add(steps, Gemm{.a = a.slot,
                  .b = b.slot,
                  .out = out->slot,
                  .a_transposed = gemm.a_transposed,
                  .b_transposed = gemm.b_transposed,
                  .accumulate = gemm.accumulate});
}

}  // namespace tilejit::program
