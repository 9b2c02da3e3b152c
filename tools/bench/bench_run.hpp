#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_axes.hpp"
#include "tilejit/benchmark.hpp"

namespace tilejit::cli {

/// The measurements of one kernel at one point of the axes.
struct BenchRow {
  std::string kernel;
  Point point;
  BenchmarkResult result;
  std::size_t workspaces = 1;
  bool cold = false;  ///< the workspaces exceed twice the L2 cache
};

/// A run of `tilejit bench`.
struct BenchRun {
  std::string device;
  std::string target;
  TimedIn timed_in = TimedIn::stream;
  L2State l2 = L2State::cold;
  std::vector<BenchRow> rows;
};

[[nodiscard]] std::string_view to_string(TimedIn timed_in) noexcept;
[[nodiscard]] std::string_view to_string(L2State l2) noexcept;

/// A text for people: what was measured on which device, then one line per row.
[[nodiscard]] std::string bench_table(const BenchRun& run);
/// CSV after RFC 4180, with a line of names. Times are in microseconds.
[[nodiscard]] std::string bench_csv(const BenchRun& run);
/// One JSON document, indented by two spaces.
[[nodiscard]] std::string bench_json(const BenchRun& run);
/// The inverse of bench_json. Throws UsageError, which names the file.
[[nodiscard]] BenchRun read_bench(std::string_view json, const std::string& file);

/// Text in columns, two spaces apart. The first `left` columns are flush left, the others flush
/// right.
[[nodiscard]] std::string columns_text(const std::vector<std::vector<std::string>>& lines,
                                       std::size_t left);

}  // namespace tilejit::cli
