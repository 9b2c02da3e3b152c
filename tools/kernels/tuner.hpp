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
  /// `runtime` and `problem` must outlive the Tuner.
  Tuner(Runtime& runtime, const Problem& problem);

  /// Median milliseconds of a launch of `op`, the problem's operation with other knobs. The first
  /// result is compared with the CPU reference. Later results are compared too, unless they equal
  /// the first bit for bit. Throws Error for a wrong result, and whatever Runtime::compile and
  /// Kernel::launch throw.
  [[nodiscard]] double milliseconds(const Operation& op);

 private:
  void verify_result(std::vector<HostTensor> results);

  Runtime& runtime_;
  const Problem& problem_;
  std::optional<Workspaces> workspaces_;
  std::vector<HostTensor> verified_;
};

/// One copy of `op` with each of `candidates`.
[[nodiscard]] std::vector<Operation> with_knobs(const Operation& op,
                                                const std::vector<Tuning>& candidates);

/// One kernel of a compiled batch: an artifact, or the reason why there is none.
struct Compiled {
  std::optional<Artifact> artifact;
  std::string failure;
};
/// Called for each kernel in the order of the batch, as soon as all kernels before it are done.
using Landed = std::function<void(std::size_t, const Compiled&)>;
/// Compiles all of `ops` through the cache, `jobs` at a time, and shows the progress. Throws
/// Error{no_compiler} if NVRTC is missing. Other Errors are reported as the kernel's failure.
void compile_all(Compiler& compiler, const std::vector<Operation>& ops, const Target& target,
                 int jobs, const Landed& landed);

/// "threads=512 unroll=2"; "as planned" if no knob is set.
[[nodiscard]] std::string knobs_text(const Tuning& tuning);

}  // namespace tilejit::cli
