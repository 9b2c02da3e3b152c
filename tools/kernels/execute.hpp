#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/device_problem.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit::cli {

/// The outcome of one kernel.
struct Outcome {
  std::optional<Artifact> artifact;          ///< empty if NVRTC is missing (CPU only)
  std::string not_compiled;                  ///< why there is no artifact
  bool is_interpreted = false;               ///< a program, which the CPU was asked to run
  bool has_no_kernel = false;                ///< the library plans no kernel for it (CPU only)
  std::vector<HostTensor> results;           ///< of each written tensor, in order; GPU only
  std::optional<Verification> verification;  ///< GPU only
  bool by_cpu = true;                        ///< `verification` is: by the CPU reference
  bool without_reference = false;            ///< nothing says what the results should be
  std::optional<Benchmark> benchmark;        ///< GPU only
  double evaluate_ms = 0;                    ///< the CPU reference's time; CPU only
};

struct Wanted {
  bool verify = true;
  bool bench = false;
  std::optional<std::int64_t> trace = {};  ///< the block of a program whose tiles are printed
};

/// The place where kernels run: a GPU, or the CPU reference.
class Executor {
 public:
  /// "auto": the default device, or the CPU if there is none; "cpu"; or a device's number. Throws
  /// UsageError for other text, and whatever `Runtime` throws for a numbered device.
  Executor(const std::string& device, Options options);

  [[nodiscard]] bool on_gpu() const noexcept;
  /// The device's name, or "cpu".
  [[nodiscard]] std::string device_name() const;
  /// Why there is no GPU; empty on a GPU, or if the CPU was asked for.
  [[nodiscard]] const std::string& no_gpu_reason() const noexcept { return reason_; }

  /// Compiles and runs. On the CPU the outputs are written into the problem's own tensors.
  [[nodiscard]] Outcome execute(Problem& problem, const Wanted& wanted);

 private:
  [[nodiscard]] Outcome execute_on_gpu(Runtime& runtime, Problem& problem, const Wanted& wanted);
  [[nodiscard]] Outcome execute_on_cpu(Compiler& compiler, Problem& problem, const Wanted& wanted);

  std::string reason_;  // declared before place_, whose initialisation may set it
  std::variant<Runtime, Compiler> place_;
};

}  // namespace tilejit::cli
