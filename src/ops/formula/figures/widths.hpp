#pragma once

#include <string>

#include "plan/plan.hpp"

namespace tilejit::figures {

/// Why an operand's accesses are as wide as they are, and no wider.
struct WidthReason {
  enum class Kind {
    widest,     ///< 16 bytes
    one_value,  ///< one element for a whole vector or row
    strided,    ///< neighbours do not lie side by side
    alignment,  ///< this tensor's address is aligned to no more
    stride,     ///< this tensor's stride is not known to be a larger multiple
    vector,     ///< the access has all that a vector takes of the operand
  };
  Kind kind = Kind::widest;
  std::string text = {};    ///< part of a sentence: "its address is a multiple of 4 bytes only"
  std::string remedy = {};  ///< how to get wider accesses; empty if nothing helps
};

/// The reason for operand `index` of `plan`, which was made with the knobs `pinned`.
[[nodiscard]] WidthReason explain_width(const plan::Plan& plan, const Tuning& pinned,
                                        std::size_t index);

}  // namespace tilejit::figures
