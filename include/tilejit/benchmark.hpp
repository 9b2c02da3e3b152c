#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tilejit/benchmark_options.hpp"
#include "tilejit/matrix_types.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {

/// What one tensor of each workspace holds.
struct WorkspaceTensor {
  std::size_t bytes = 0;
  const void* contents = nullptr;  ///< as many bytes of host memory; null: zeros
};

/// Copies of an operation's tensors in device memory, all with the same contents: so many that
/// together they exceed the device's L2 cache twice, but at most 4096 in a quarter of its memory.
/// Move-only.
class Workspaces {
 public:
  /// `scalars` follow the tensors in every argument list. L2State::warm: one workspace. Throws
  /// Error{driver_call}, and Error{invalid_argument} for more bytes than an address space has.
  Workspaces(const Runtime& runtime, std::span<const WorkspaceTensor> tensors,
             std::span<const Argument> scalars = {}, L2State l2 = L2State::cold);

  /// One argument list per workspace, at least one.
  [[nodiscard]] std::span<const std::vector<Argument>> arguments() const noexcept {
    return arguments_;
  }
  /// Whether they exceed the L2 cache twice, so that a launch finds nothing of its tensors there.
  [[nodiscard]] bool are_cold() const noexcept { return cold_; }

 private:
  Buffer memory_;
  std::vector<std::vector<Argument>> arguments_;
  bool cold_ = false;
};

/// Times launches of `kernel` on a stream of its own, over `arguments` in turn. Throws
/// Error{invalid_argument} without an argument list and for options out of range, and as
/// Kernel::launch does.
[[nodiscard]] TimeSummary time_launches(const Runtime& runtime, const Kernel& kernel,
                                        std::span<const std::vector<Argument>> arguments,
                                        const SymbolValues& symbols = {},
                                        const BenchmarkOptions& options = {});
/// Times a device-to-device copy of `bytes` bytes: a ceiling to compare kernels with.
[[nodiscard]] TimeSummary time_copy(const Runtime& runtime, std::size_t bytes,
                                    const BenchmarkOptions& options = {});
/// Times a kernel that reads `bytes` bytes and writes next to nothing: the greatest of each 16 KB
/// of f32. Also throws as Runtime::compile does.
[[nodiscard]] TimeSummary time_read(Runtime& runtime, std::size_t bytes,
                                    const BenchmarkOptions& options = {});

/// What a launch has to do, whatever kernel does it.
struct DeclaredWork {
  /// Each element once, those of stride 0 once, in place twice.
  std::int64_t bytes = 0;
  /// Of the typed formula: each arithmetic operation and function counts 1 per value that it
  /// computes, a reduction or scan 1 per element, a product of matrices 2 per place of K and
  /// element; loads, casts, constants, indices and choices count 0.
  std::int64_t operations = 0;
  /// Of its products of matrices; of the first one, if they differ.
  std::optional<MatrixTypes> matrices = {};
};
/// Throws what `validate` throws, and Error{invalid_argument} if a symbol has no value, or a count
/// exceeds 2^63-1.
[[nodiscard]] DeclaredWork declared_work(const Operation& op, const SymbolValues& symbols = {});

/// Speeds of the device's memory, in GB/s, that no kernel exceeds by much; measured over as many
/// bytes.
struct Ceilings {
  double copy = 0;  ///< device-to-device copy; bytes read and written
  double read = 0;  ///< reading only
  /// Of multiplying matrices, in 10^12 operations per second; 0 if there are none.
  double multiply = 0;
};
/// The speed at which the device multiplies matrices in registers or shared memory, by its fastest
/// instruction for operands of these types and random values: in 10^12 operations per second.
/// Throws as time_launches and Runtime::compile.
[[nodiscard]] double measure_peak(Runtime& runtime, const MatrixTypes& types,
                                  const BenchmarkOptions& options = {});
/// `multiply` is left out.
/// Throws as time_copy and time_read. `bytes`: what the kernel moves.
[[nodiscard]] Ceilings measure_ceilings(Runtime& runtime, std::int64_t bytes,
                                        const BenchmarkOptions& options = {});

/// Little's law: bytes under way = latency x bandwidth. In bytes per multiprocessor.
struct BytesInFlight {
  double needed = 0;  ///< for the copy's bandwidth, with the latency of idle memory: the least
  double issued = 0;  ///< loads that the resident threads have issued before they wait
};

/// What is known of a kernel's speed.
struct BenchmarkResult {
  TimeSummary time = {};
  DeclaredWork work = {};
  Ceilings ceilings = {};
  KernelInfo kernel = {};
  double occupancy = 0;  ///< resident threads, of those that a multiprocessor holds: 0..1
  BytesInFlight in_flight = {};

  [[nodiscard]] double gigabytes_per_second() const noexcept;
  [[nodiscard]] double teraflops() const noexcept;  ///< 10^12 operations of `work` per second
  [[nodiscard]] double percent_of_copy() const noexcept;
  [[nodiscard]] double percent_of_read() const noexcept;
  [[nodiscard]] double percent_of_peak() const noexcept;  ///< 0 without matrices
};

/// Measures all of it except the ceilings, which are `given`. Throws as time_launches and
/// declared_work do.
[[nodiscard]] BenchmarkResult benchmark(Runtime& runtime, const Kernel& kernel,
                                        std::span<const std::vector<Argument>> arguments,
                                        const SymbolValues& symbols,
                                        const BenchmarkOptions& options, const Ceilings& given);
/// Measures the ceilings too, over as many bytes and with the same options.
[[nodiscard]] BenchmarkResult benchmark(Runtime& runtime, const Kernel& kernel,
                                        std::span<const std::vector<Argument>> arguments,
                                        const SymbolValues& symbols = {},
                                        const BenchmarkOptions& options = {});

}  // namespace tilejit
