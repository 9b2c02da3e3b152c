#pragma once

#include <string>

#include "plan/plan.hpp"

namespace tilejit::figures {

/// Why an operand's accesses are as wide as they are, and no wider.
struct WidthReason {
  enum class Kind {
    widest,     ///< 16 bytes
    one_value,  ///< an element for all of a vector, or a row
    strided,    ///< neighbours do not lie side by side
    alignment,  ///< of this tensor's address
    stride,     ///< of this tensor, which is no multiple of more
    vector,     ///< all that a vector has of it
  };
  Kind kind = Kind::widest;
  std::string text = {};    ///< part of a sentence: "its address is a multiple of 4 bytes only"
  std::string remedy = {};  ///< what to do for wider ones; empty where nothing helps
};

/// Of operand `index` of `plan`, made with the knobs `pinned`.
[[nodiscard]] WidthReason explain_width(const plan::Plan& plan, const Tuning& pinned,
                                        std::size_t index);

}  // namespace tilejit::figures
