#include <fmt/format.h>

#include "attention/family.hpp"
#include "figures/of_families.hpp"

namespace tilejit::figures {

using plan::AttentionWgmma;
using plan::Plan;

Sentences why(const Plan&, const AttentionWgmma& attention) {
  const formula::Attention& of = attention.scores.attention;
  Sentences sentences = {
      fmt::format("two products with a softmax between them are one kernel: warpgroups keep "
                  "scores, weights and output in registers, by {} and {}.",
                  atoms::instruction(attention.score_atom), atoms::instruction(attention.atom)),
      fmt::format("A block has {} queries, and takes {} keys after {}; {} blocks of them are on "
                  "their way.",
                  attention.tile.m, attention.tile.k, attention.tile.k, attention.tile.stages)};
  if (!of.masks.empty()) {
    sentences.push_back(
        "Blocks of keys that the mask excludes are neither loaded nor computed, by interval "
        "arithmetic on its condition; those that it leaves whole are not masked.");
  }
  return sentences;
}

ThreadValues values_of(const Plan& plan, const AttentionWgmma& attention) {
  return values_of(plan, static_cast<const plan::MatmulWgmma&>(attention));
}

}  // namespace tilejit::figures
