#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// The most elements per thread, a power of two. The kernel's code repeats the formula for every
/// element, and a heavy formula does not wait for memory anyway.
[[nodiscard]] std::int64_t elements_within_budget(const Plan& plan);

/// Whether the operand is the same for several coordinates, so that caches have most of it.
[[nodiscard]] bool repeats(const Operand& operand);

/// Bytes of the loads of a vector, of what does not repeat.
[[nodiscard]] int bytes_of_loads(const Plan& plan);

/// Enough vectors per thread that each thread has about 32 bytes of loads in flight, of what does
/// not repeat. If every multiprocessor is full of threads, this covers the latency of memory
/// (docs/performance.md has the sweep).
[[nodiscard]] int vectors_in_flight(const Plan& plan);

/// Chooses the threads of `plan`, the vectors that each thread has in flight, and how threads share
/// rows. `plan` must have its family, extents, operands and vector. Throws Error{invalid_spec} for
/// tuning that cannot be honoured.
void choose_launch(Plan& plan, const Tuning& tuning);

}  // namespace tilejit::plan
