#include <fmt/format.h>

#include "figures/of_families.hpp"
#include "wgmma/wgmma_plan.hpp"

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

/// Why warpgroups do not multiply, on a target that has them; empty if they would take longer.
std::string not_by_warpgroups(const Plan& plan, const plan::MatmulMma& product) {
  if (!plan::has_wgmma(plan.target, product)) return {};
  for (const auto& [name, source] : {std::pair('A', &product.a), std::pair('B', &product.b)}) {
    const std::string fault = plan::fault_of_source(*source);
    if (!fault.empty()) {
      return fmt::format(
          "Warpgroups do not multiply, since they read through tensor maps, and {} {}.", name,
          fault);
    }
  }
  return {};
}

}  // namespace

Sentences why(const Plan& plan, const plan::MatmulMma& product) {
  Sentences sentences = {
      fmt::format("tensor cores multiply matrices of {} and {} by {}.", to_string(product.a.dtype),
                  to_string(product.b.dtype), atoms::instruction(product.atom)),
      tile_text(product), reads_text(product)};
  if (std::string reason = not_by_warpgroups(plan, product); !reason.empty())
    sentences.push_back(std::move(reason));
  return sentences;
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

}  // namespace tilejit::figures
