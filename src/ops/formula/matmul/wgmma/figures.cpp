#include <fmt/format.h>

#include "figures/of_families.hpp"

namespace tilejit::figures {
namespace {

using plan::MatmulWgmma;
using plan::Plan;

}  // namespace

Sentences why(const Plan&, const MatmulWgmma& product) {
  const plan::TileShape& tile = product.tile;
  Sentences sentences = {fmt::format(
      "warpgroups multiply matrices of {} and {} by {}, and tensor maps bring both to shared "
      "memory.",
      to_string(product.a.dtype), to_string(product.b.dtype), atoms::instruction(product.atom))};
  sentences.push_back(
      fmt::format("{} {} a tile of {} by {}, in steps of {} along K and {} stages of {} KB; blocks "
                  "take one tile after another.",
                  count_text(product.consumers(), "warpgroup"),
                  product.consumers() == 1 ? "computes"
                  : product.takes_turns    ? "in turn compute"
                                           : "compute",
                  tile.m, tile.n, tile.k, tile.stages, plan::stage_bytes(product) / 1024));
  if (product.loads_a()) {
    sentences.push_back(
        fmt::format("{} does not lie along K, so its elements go through registers.",
                    product.swapped ? "The right operand, which stands on the left," : "A"));
  }
  if (product.second) {
    sentences.emplace_back(
        "Two products share an operand, which is read once: a tile has both of them, and the "
        "formula takes their sums together.");
  }
  if (product.statistic != expr::kNoNode) {
    sentences.emplace_back(
        "What the formula reduces along the rows of A, warpgroups reduce in shared memory, while "
        "their products are on the way.");
  }
  if (!product.reductions.empty()) {
    sentences.emplace_back(
        "What is reduced along N, warpgroups reduce tile by tile, from sums in registers; a kernel "
        "that follows reduces what they leave for each tile.");
  }
  if (product.cluster > 1) {
    sentences.push_back(
        fmt::format("{} blocks of a cluster share the columns of the right operand, of which each "
                    "loads a part for all.",
                    product.cluster));
  }
  if (product.beside > 1) {
    sentences.push_back(fmt::format(
        "{} blocks of a cluster share the rows of the left operand, of which each loads "
        "a part for all.",
        product.beside));
  }
  if (product.splits > 1) {
    sentences.push_back(fmt::format(
        "{} blocks of a cluster share a tile, each with a part of K, and add their sums in each "
        "other's shared memory.",
        product.splits));
  }
  if (product.swapped) {
    sentences.emplace_back(
        product.second
            ? "Left and right operand are exchanged, since the right one is shared."
            : "Left and right operand are exchanged, since tiles then fill the device better.");
  }
  if (product.by_words() && product.words == 0) return sentences;
  sentences.push_back(
      product.by_words()
          ? "The formula takes sums as they lie in registers, and results go through shared memory."
          : "Sums go through shared memory to the formula, which takes whole vectors.");
  return sentences;
}

// A warp takes its sums panel by panel, and each panel vector by vector.
ThreadValues values_of(const Plan& plan, const MatmulWgmma& product) {
  const Dim line = product.along_m ? product.tile.m : product.tile.n,
            lines = product.along_m ? product.tile.n : product.tile.m;
  const Dim vector = plan.vector, run = Dim(128 * product.consumers()) * plan.vector;
  const Dim vectors = Dim(line.value() * lines.value() / run.value());
  return {tuple_of({line, lines}), make_layout({Layout(128 * product.consumers(), plan.vector),
                                                flat_layout({vector, vectors}, {1, run})})};
}

}  // namespace tilejit::figures
