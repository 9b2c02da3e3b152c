#pragma once

#include <optional>
#include <string>

#include "tilejit/compiler.hpp"

namespace tilejit {

/// What the compiler made of a kernel.
struct KernelResources {
  int registers = 0;            ///< per thread
  int spill_bytes = 0;          ///< per thread, stored and loaded
  int static_shared_bytes = 0;  ///< per block; the plan has what the launch asks for beyond
};
/// Reads an artifact's metadata; empty if the compiler reported nothing.
[[nodiscard]] std::optional<KernelResources> resources_of(const Artifact& artifact);

/// The kernel of `op` for `target` in words: which template and why, what a block does, why
/// accesses are no wider, registers, shared memory, occupancy, bytes moved and in flight, the
/// predicted limit and time, and what one could change. Without `resources` registers are left out.
/// Sizes take symbols' examples. Pure and deterministic. Throws what `validate` throws.
[[nodiscard]] std::string explain_plan(const Operation& op, const Target& target,
                                       const std::optional<KernelResources>& resources = {});
/// The same as JSON: topics with their sentences, advice, and the figures of `render_plan`.
[[nodiscard]] std::string explain_plan_json(const Operation& op, const Target& target,
                                            const std::optional<KernelResources>& resources = {});

}  // namespace tilejit
