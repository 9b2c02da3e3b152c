#include <fmt/format.h>

#include "figures/of_families.hpp"
#include "figures/value.hpp"

namespace tilejit::figures {
namespace {

using plan::Matmul;
using plan::Plan;

std::string tile_text(const Matmul& product) {
  return fmt::format("A block computes {} by {} of them, in steps of {} along K and {} stages",
                     product.tile.m, product.tile.n, product.tile.k, product.tile.stages) +
         (product.splits == 1 ? std::string(".")
                              : fmt::format("; {} blocks share a tile, each with a part of K, and "
                                            "their sums are added in one order.",
                                            product.splits));
}

std::string reads_text(char name, const plan::OperandSource& source) {
  if (source.run == 1) return fmt::format("{} is read element by element", name);
  return fmt::format("{} is read {} bytes at a time along {}", name,
                     source.run * size_bytes(source.dtype),
                     source.major == atoms::Major::k ? "K"
                     : name == 'A'                   ? "M"
                                                     : "N");
}

std::string reads_text(const Matmul& product) {
  return reads_text('A', product.a) + ", " + reads_text('B', product.b) + ".";
}

}  // namespace

Sentences why(const Plan&, const plan::MatmulMma& product) {
  return {
      fmt::format("tensor cores multiply matrices of {} and {} by {}.", to_string(product.a.dtype),
                  to_string(product.b.dtype), atoms::instruction(product.atom)),
      tile_text(product), reads_text(product)};
}

Sentences why(const Plan& plan, const plan::MatmulSimt& product) {
  return {
      fmt::format("the product's operands are {} and {}, for which {} has no tensor cores.",
                  to_string(product.a.dtype), to_string(product.b.dtype), to_string(plan.target)),
      tile_text(product), reads_text(product)};
}

// Neighbours of a warp's sums, as they are stored: a thread takes one vector after another.
ThreadValues values_of(const Plan& plan, const Matmul& product) {
  const Dim line = product.along_m ? product.tile.m : product.tile.n,
            lines = product.along_m ? product.tile.n : product.tile.m;
  const Dim vector = plan.vector, run = Dim(plan.threads) * plan.vector;
  const Dim vectors = *Dim::divide(line * lines, run);
  return {tuple_of({line, lines}), make_layout({Layout(plan.threads, plan.vector),
                                                flat_layout({vector, vectors}, {1, run})})};
}

ModesOfTile modes_of_tile(const Plan&, const Matmul&) {
  return {{0}, {1}};
}

int vectors_ahead(const Plan&, const Matmul&, const plan::Operand&) {
  return 1;
}

std::int64_t shared_bytes(const Plan& plan, const Matmul&) {
  return plan::dynamic_shared_bytes(plan);
}

OperandFigures figures_of_source(const Plan& plan, const plan::Operand& operand,
                                 const SymbolValues& symbols) {
  const Matmul& product = *plan::matmul_of(plan);
  const bool left = operand.tensor == 0;
  const plan::OperandSource& source = left ? product.a : product.b;
  const int bytes = size_bytes(source.dtype);
  OperandFigures figures{.name = name_of(plan, operand),
                         .access_elements = source.run,
                         .access_bytes = operand.access_bytes};
  const int tile = (left ? product.tile.m : product.tile.n) * product.tile.k * bytes;
  figures.bytes_in_flight = std::int64_t{product.tile.stages - 1} * tile / plan.threads;
  Product moved;
  moved.times(bytes);
  const auto times = [&](const std::vector<Mode>& leaves) {
    for (const Mode& leaf : leaves) {
      if (!leaf.stride.is(0)) moved.times(value_of(leaf.extent, symbols));
    }
  };
  for (const std::vector<Mode>& leaves : source.batch) times(leaves);
  times(source.outer);
  times(source.inner);
  figures.bytes_moved = moved.value();
  return figures;
}

double clocks_of_product(const Plan& plan, const SymbolValues& symbols) {
  const Matmul* const product = plan::matmul_of(plan);
  if (product == nullptr) return 0;
  Product places;
  places.times(value_of(product->k, symbols));
  for (const Dim& extent : plan.extents) places.times(value_of(extent, symbols));
  const auto* const mma = std::get_if<plan::MatmulMma>(&plan.family);
  const auto shapes = mma != nullptr ? plan::tensor_core_shapes(mma->atom, plan.target)
                                     : plan::simt_shapes(product->accumulator);
  for (const plan::ShapeOfClass& one : shapes) {
    if (one.shape.m != product->tile.m || one.shape.n != product->tile.n) continue;
    return 2.0 * static_cast<double>(places.value().value_or(0)) / one.flop_in_clock;
  }
  return 0;
}

}  // namespace tilejit::figures
