#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "attention/family.hpp"
#include "plan/plan.hpp"

namespace tilejit::render {

/// The members of Work that all kernels of attentions have: what differs in numbers, where tiles
/// and elements lie, masks and formulas.
struct AttentionWork {
  const plan::Plan& plan;
  const plan::Matmul& product;
  const plan::Weights& weights;
  std::string_view checks;
  std::function<std::string(const Dim&)> value_of = {};  ///< how a kernel spells a dimension

  /// `may_be_cut`: whether the last block of keys may have fewer than others.
  [[nodiscard]] std::string constants(bool may_be_cut) const;
  [[nodiscard]] std::string functions() const;
};

}  // namespace tilejit::render
