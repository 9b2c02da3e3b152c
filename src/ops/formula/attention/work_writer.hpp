#pragma once

#include <string>
#include <string_view>

#include "attention/score_writer.hpp"
#include "matmul/family.hpp"

namespace tilejit::render {

/// The members of Work that all kernels of attentions have: what differs in numbers, where tiles
/// and elements lie, masks and formulas.
struct AttentionWork {
  const plan::Plan& plan;
  const plan::Matmul& product;
  const plan::Weights& weights;
  std::string_view checks;
  ScoreWriter::DimText value_of = {};

  [[nodiscard]] std::string constants() const;
  [[nodiscard]] std::string functions() const;
};

}  // namespace tilejit::render
