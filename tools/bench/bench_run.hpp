#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_axes.hpp"
#include "tilejit/benchmark.hpp"

namespace tilejit::cli {

/// What was measured of one kernel at one point of the axes.
struct BenchRow {
  std::string kernel;
  Point point;
  BenchmarkResult result;
  std::size_t workspaces = 1;
  bool cold = false;  ///< they exceed the L2 cache twice
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

/// For people: what was measured where, then a line a row.
[[nodiscard]] std::string bench_table(const BenchRun& run);
/// RFC 4180, with a line of names; times in microseconds.
[[nodiscard]] std::string bench_csv(const BenchRun& run);
/// One document, two spaces of indent.
[[nodiscard]] std::string bench_json(const BenchRun& run);
/// The inverse of bench_json. Throws UsageError that names the file.
[[nodiscard]] BenchRun read_bench(std::string_view json, const std::string& file);

/// Text in columns, two spaces apart: the first `left` flush left, the others flush right.
[[nodiscard]] std::string columns_text(const std::vector<std::vector<std::string>>& lines,
                                       std::size_t left);

}  // namespace tilejit::cli
