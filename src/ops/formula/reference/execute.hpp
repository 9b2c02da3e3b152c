#pragma once

#include <functional>
#include <span>

#include "reference/problem.hpp"

namespace tilejit::reference {

/// As tilejit::evaluate and tilejit::verify, for a complete problem.
void evaluate(const Problem& problem);
[[nodiscard]] Verification verify(const Problem& problem, std::span<const void* const> actual);

/// Iteration indices first .. last - 1.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
/// Splits [0, total) into ranges of at least 2^16 elements, at most one per hardware thread.
[[nodiscard]] std::vector<Range> split(std::int64_t total);
/// Calls work(0) .. work(count - 1), each in its own thread, and waits. If a thread cannot be
/// started, the calling thread does its work. `work` must not throw.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace tilejit::reference
