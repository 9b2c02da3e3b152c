#include <fmt/format.h>

#include "attention/family.hpp"
#include "figures/of_families.hpp"

namespace tilejit::figures {

using plan::AttentionMma;
using plan::AttentionWgmma;
using plan::Plan;

namespace {

void add_mask(const plan::Weights& weights, Sentences& sentences) {
  if (weights.scores.attention.masks.empty()) return;
  sentences.push_back(
      "Blocks of keys that the mask excludes are neither loaded nor computed, by interval "
      "arithmetic on its condition; those that it leaves whole are not masked.");
}

}  // namespace

Sentences why(const Plan&, const AttentionWgmma& attention) {
  Sentences sentences = {
      fmt::format("two products with a softmax between them are one kernel: warpgroups keep "
                  "scores, weights and output in registers, by {} and {}.",
                  atoms::instruction(attention.score_atom), atoms::instruction(attention.atom)),
      fmt::format("A block has {} queries, and takes {} keys after {}; {} blocks of them are on "
                  "their way.",
                  attention.tile.m, attention.tile.k, attention.tile.k, attention.tile.stages)};
  add_mask(attention, sentences);
  return sentences;
}

Sentences why(const Plan&, const AttentionMma& attention) {
  Sentences sentences = {
      fmt::format("two products with a softmax between them are one kernel: warps keep scores, "
                  "weights and output in registers, by {}.",
                  atoms::instruction(attention.atom)),
      fmt::format("A block has {} queries, {} for each warp, and takes {} keys after {}; keys and "
                  "values have {} slots of shared memory, into which they are copied by turns.",
                  attention.tile.m, attention.tile.m / attention.tile.warps_m, attention.tile.k,
                  attention.tile.k, attention.tile.stages)};
  add_mask(attention, sentences);
  return sentences;
}

ThreadValues values_of(const Plan& plan, const AttentionMma& attention) {
  return values_of(plan, static_cast<const plan::Matmul&>(attention));
}

ThreadValues values_of(const Plan& plan, const AttentionWgmma& attention) {
  return values_of(plan, static_cast<const plan::MatmulWgmma&>(attention));
}

}  // namespace tilejit::figures
