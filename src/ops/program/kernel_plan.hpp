#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operation/launch_plan.hpp"
#include "operation/signature.hpp"
#include "program/code.hpp"
#include "program/distribution.hpp"
#include "tilejit/program.hpp"
#include "tilejit/target.hpp"

namespace tilejit::program {

/// Where a shared tile lies.
struct SharedPlace {
  std::int64_t offset = 0;    ///< bytes from the start of the block's shared memory
  std::int64_t bytes = 0;     ///< of all buffers
  std::int64_t elements = 0;  ///< of one buffer
  int buffers = 1;            ///< more than one: a loop with stages loads ahead
  ComposedLayout layout = {};
};

/// How a program is compiled and launched on a target. A value.
struct KernelPlan {
  std::shared_ptr<const TileProgram> program;  ///< never null
  Tuning tuning = {};
  Target target = {};
  Code code = {};
  std::string entry = {};
  int threads = 1;                                              ///< of a block
  std::vector<std::optional<Distribution>> distributions = {};  ///< of tiles; empty for shared ones
  std::vector<std::optional<SharedPlace>> places = {};          ///< of tiles; empty for registers
  operation::Signature signature = {};
  std::vector<operation::Param> params = {};
  int params_bytes = 0;
  std::int64_t shared_bytes = 0;                      ///< of a block: tiles and scratch
  std::string text = {};                              ///< CUDA
  std::vector<operation::Assertion> assertions = {};  ///< by the number that the text gives them
  std::vector<std::string> warnings = {};

  /// The global of the text that points to the words of assertions.
  [[nodiscard]] std::string assertion_words() const { return entry + "_assertions"; }
};

/// Throws what `validate` throws, and Error{unsupported} for what no block of the target has, and
/// for a block whose threads are not known before the launch.
[[nodiscard]] KernelPlan make_plan(std::shared_ptr<const TileProgram> program, const Tuning& tuning,
                                   const Target& target);
/// Canonical JSON on one line: what the cubin and the loaded kernel depend on.
[[nodiscard]] std::string to_json(const KernelPlan& plan);
[[nodiscard]] operation::LaunchPlan launch_plan(const KernelPlan& plan);

/// Everything that turns a plan into text, as a digest. Computed by the build.
[[nodiscard]] std::string_view generator_digest() noexcept;

}  // namespace tilejit::program
