#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device_problem.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/runtime.hpp"
#include "tilejit/tune.hpp"

namespace tilejit::cli {

/// Verifies and times one operation with various knobs.
class Tuner {
 public:
  /// Both outlive the Tuner.
  Tuner(Runtime& runtime, const Problem& problem);

  /// Median milliseconds of a launch of `op`, the problem's operation with other knobs. The first
  /// result is compared with the CPU reference, the others too unless they equal the first bit for
  /// bit. Throws Error for a wrong result, and as Runtime::compile and Kernel::launch.
  [[nodiscard]] double milliseconds(const Operation& op);

 private:
  void verify_result(std::vector<HostTensor> results);

  Runtime& runtime_;
  const Problem& problem_;
  std::optional<Workspaces> workspaces_;
  std::vector<HostTensor> verified_;
};

/// `op` with each of `candidates`.
[[nodiscard]] std::vector<Operation> with_knobs(const Operation& op, const std::vector<Tuning>& candidates);

/// One kernel of a batch that was compiled: an artifact, or why there is none.
struct Compiled {
  std::optional<Artifact> artifact;
  std::string failure;
};
/// Called for each kernel in the order of the batch, as soon as those before it are through.
using Landed = std::function<void(std::size_t, const Compiled&)>;
/// Compiles all of `ops` through the cache, `jobs` at a time, and shows how far it is. Throws
/// Error{no_compiler} if NVRTC is missing; other Errors are the op's own.
void compile_all(Compiler& compiler, const std::vector<Operation>& ops, const Target& target, int jobs,
                 const Landed& landed);

/// "threads=512 unroll=2"; "as planned" for none.
[[nodiscard]] std::string knobs_text(const Tuning& tuning);

}  // namespace tilejit::cli
