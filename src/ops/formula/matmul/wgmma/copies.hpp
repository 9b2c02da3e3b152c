#pragma once

#include "plan/step_list.hpp"

namespace tilejit::plan {

/// `steps` with copies of operands that tensor maps cannot show, because of odd rows, nested modes,
/// or elements of other than 16 bits that do not lie along K: where warpgroups and the copies take
/// less time than the kernel that reads the operand as it is. Copies have rows of a multiple of 16
/// bytes, and are tensors from number `first` on.
[[nodiscard]] StepList with_copied_operands(std::vector<formula::Step> steps, int first,
                                            const Target& target);

}  // namespace tilejit::plan
