#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

// Threads of staged plans access what does not come as a run where it is, element by element.

/// Whether threads read an operand where it is, of which each row or some have their own elements.
[[nodiscard]] bool is_direct(const Plan& plan, const Rows& rows, const Operand& operand);

/// Bytes of the sectors in which `count` neighbouring rows lie that threads read where they are.
[[nodiscard]] std::int64_t direct_bytes(const Plan& plan, const Rows& rows, std::int64_t count);

/// Whether the plan is staged, and threads take longer to store parts of sectors than memory takes
/// for all bytes. False if rows are scanned, few, or of unknown extents.
[[nodiscard]] bool stores_parts(const Plan& plan);

/// Whether `by_output`, the same operation's plan whose rows follow the output, is staged, and its
/// threads read sectors in clearly less time than those of `plan` take to store.
[[nodiscard]] bool reads_instead(const Plan& by_output, const Plan& plan);

}  // namespace tilejit::plan
