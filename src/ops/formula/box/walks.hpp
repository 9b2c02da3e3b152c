#pragma once

#include <cstdint>
#include <vector>

#include "device/access.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

using Modes = std::vector<std::size_t>;

/// An operand's stride along mode `m`, of which it has one leaf.
[[nodiscard]] std::int64_t stride_of(const Operand& operand, std::size_t m);

/// The modes along which the operand varies, by its strides.
[[nodiscard]] Modes order_of(const Operand& operand);

/// Bytes of the aligned accesses by which runs are copied.
inline constexpr int kChunkBytes = device::kWidestAccess;

/// How the operand passes through shared memory; null if it does not.
[[nodiscard]] const Transposed* transposed_of(const Box& box, const Operand& operand);
[[nodiscard]] const Operand& operand_of(const Plan& plan, const Transposed& transposed);

/// A walk through a box along the modes in `order` by at most `threads` threads.
[[nodiscard]] Walk walk_along(const Box& box, const Modes& order, std::int64_t threads,
                              std::int64_t vector = 1);

/// Whether all of the operand is a small part of what the space reads or writes.
[[nodiscard]] bool is_small_part(const Plan& plan, const Operand& operand);

}  // namespace tilejit::plan
