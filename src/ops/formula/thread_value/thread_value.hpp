#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// The thread-value layout of `layouts` over a space of `rank` axes. Mode 0 of the space is the
/// axis along which the most values of a thread are neighbours; the other modes follow from the
/// last axis to the first. Throws Error{unsupported} for a formula that reduces, and
/// Error{invalid_spec} for a tile of more modes than the space has axes.
[[nodiscard]] ThreadValue plan_thread_value(const ThreadValueLayouts& layouts, std::size_t rank,
                                            bool reduces);

/// The axis of each mode of the space.
[[nodiscard]] std::vector<std::size_t> axes_of_modes(const ThreadValue& tv, std::size_t rank);

/// Elements of a tile along mode `m` of the space.
[[nodiscard]] std::int64_t tile_extent(const ThreadValue& tv, std::size_t m) noexcept;

/// Throws Error{invalid_spec} if vectors of `vector` values are not neighbours.
void check_run(const ThreadValue& tv, int vector);

/// Vectors that a thread loads at once: `asked` if given, else at most `most`. Throws
/// Error{invalid_spec} if `asked` does not divide the thread's vectors.
[[nodiscard]] int vectors_at_once(const ThreadValue& tv, int vector, std::optional<int> asked,
                                  int most);

}  // namespace tilejit::plan
