#include "tilejit/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/integer.hpp"
#include "operation/descriptor.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

constexpr std::int64_t kRowBytes = 16384;  // per row of the kernel that only reads

/// Rate for `count` bytes in `milliseconds`, in 10^9 per second.
double giga_a_second(double count, double milliseconds) noexcept {
  return milliseconds > 0 ? count / milliseconds / 1e6 : 0;
}

/// An operation that reads rows and writes one element per row.
Operation reading(std::int64_t rows) {
  constexpr const char* kSpec = R"_({{
    "name": "read_ceiling",
    "tensors": {{"x": {{"dtype": "f32", "shape": [{0}, {1}]}}, "y": {{"dtype": "f32", "shape": [{0}]}}}},
    "formula": "y = max(x)"}})_";
  return parse_operation(fmt::format(kSpec, rows, kRowBytes / 4));
}

std::int64_t require(const std::optional<std::int64_t>& count, const char* what) {
  if (count) return *count;
  throw Error(ErrorCode::invalid_argument,
              std::string(what) +
                  " cannot be counted: a symbol has no value, or the count exceeds 2^63-1; give "
                  "every symbol a value, and smaller ones");
}

DeclaredWork work_of(const operation::Figures& figures) {
  return {.bytes = require(figures.bytes_moved, "bytes moved"),
          .operations = require(figures.operations, "operations"),
          .matrices = figures.matrices};
}

BytesInFlight in_flight_of(const Runtime& runtime, const operation::Figures& figures,
                           const KernelInfo& kernel, double gigabytes_per_second) {
  const auto multiprocessors = static_cast<double>(std::max(1, runtime.device().multiprocessors));
  std::int64_t blocks = kernel.blocks_per_sm;
  if (figures.blocks) {
    blocks = std::min(
        blocks, core::ceil_div(*figures.blocks, std::max(1, runtime.device().multiprocessors)));
  }
  return {.needed = figures.device->latency_ns() * gigabytes_per_second / multiprocessors,
          .issued = static_cast<double>(blocks * kernel.threads * figures.bytes_in_flight)};
}

}  // namespace

TimeSummary time_read(Runtime& runtime, std::size_t bytes, const BenchmarkOptions& options) {
  const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes) / kRowBytes);
  const Kernel kernel = runtime.compile(reading(rows));
  const WorkspaceTensor tensors[] = {{static_cast<std::size_t>(rows * kRowBytes)},
                                     {static_cast<std::size_t>(rows * 4)}};
  const Workspaces workspaces(runtime, tensors, {}, options.l2);
  return time_launches(runtime, kernel, workspaces.arguments(), {}, options);
}

Ceilings measure_ceilings(Runtime& runtime, std::int64_t bytes, const BenchmarkOptions& options) {
  // A copy reads and writes each byte.
  const std::int64_t copied = std::max<std::int64_t>(bytes / 2, 1);
  const std::int64_t read = std::max<std::int64_t>(bytes / kRowBytes, 1) * kRowBytes;
  const TimeSummary copy = time_copy(runtime, static_cast<std::size_t>(copied), options);
  return {
      .copy = giga_a_second(static_cast<double>(2 * copied), copy.median_ms),
      .read = giga_a_second(static_cast<double>(read),
                            time_read(runtime, static_cast<std::size_t>(read), options).median_ms)};
}

DeclaredWork declared_work(const Operation& op, const SymbolValues& symbols) {
  return work_of(op.descriptor().plan(Target{}).body->figures(symbols));
}

BenchmarkResult benchmark(Runtime& runtime, const Kernel& kernel,
                          std::span<const std::vector<Argument>> arguments,
                          const SymbolValues& symbols, const BenchmarkOptions& options,
                          const Ceilings& given) {
  // Planned the same way as by Runtime::compile.
  const Operation op =
      runtime.compiler().tuned(kernel.op(), kernel.artifact().target, runtime.device().name);
  const operation::Figures figures =
      op.descriptor().plan(kernel.artifact().target).body->figures(symbols);
  BenchmarkResult result{.work = work_of(figures), .ceilings = given, .kernel = kernel.info()};
  result.time = time_launches(runtime, kernel, arguments, symbols, options);
  result.occupancy = static_cast<double>(result.kernel.blocks_per_sm) * result.kernel.threads /
                     figures.device->threads;
  result.in_flight = in_flight_of(runtime, figures, result.kernel, given.copy);
  return result;
}

BenchmarkResult benchmark(Runtime& runtime, const Kernel& kernel,
                          std::span<const std::vector<Argument>> arguments,
                          const SymbolValues& symbols, const BenchmarkOptions& options) {
  const DeclaredWork work = declared_work(kernel.op(), symbols);
  Ceilings ceilings = measure_ceilings(runtime, work.bytes, options);
  if (work.matrices) ceilings.multiply = measure_peak(runtime, *work.matrices, options);
  return benchmark(runtime, kernel, arguments, symbols, options, ceilings);
}

double BenchmarkResult::gigabytes_per_second() const noexcept {
  return giga_a_second(static_cast<double>(work.bytes), time.median_ms);
}

double BenchmarkResult::teraflops() const noexcept {
  return giga_a_second(static_cast<double>(work.operations), time.median_ms) / 1e3;
}

double BenchmarkResult::percent_of_copy() const noexcept {
  return ceilings.copy > 0 ? 100 * gigabytes_per_second() / ceilings.copy : 0;
}

double BenchmarkResult::percent_of_peak() const noexcept {
  return ceilings.multiply > 0 ? 100 * teraflops() / ceilings.multiply : 0;
}

double BenchmarkResult::percent_of_read() const noexcept {
  return ceilings.read > 0 ? 100 * gigabytes_per_second() / ceilings.read : 0;
}

}  // namespace tilejit
