#include "bench/bench_compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/command.hpp"

namespace tilejit::cli {
namespace {

void check_alike(const BenchRun& now, const BenchRun& before) {
  if (now.l2 == before.l2) return;
  throw UsageError(
      fmt::format("the earlier run was timed with L2 {}, this one with L2 {}; time both alike",
                  to_string(before.l2), to_string(now.l2)));
}

const char* verdict(const Change& change) {
  if (!change.significant) return "same";
  return change.percent() > 0 ? "SLOWER" : "faster";
}

// The earlier time divided by the new one, minus one, in percent.
double speedup(const Change& change) {
  return change.now_ms > 0 ? 100 * (change.before_ms / change.now_ms - 1) : 0;
}

// If one run is of a stream and the other of a graph, the columns say which is which.
std::vector<std::vector<std::string>> heading(const BenchRun& now, const BenchRun& before) {
  if (now.timed_in == before.timed_in)
    return {{"kernel", "at", "before us", "now us", "change %", ""}};
  return {{"kernel", "at", fmt::format("{} us", to_string(before.timed_in)),
           fmt::format("{} us", to_string(now.timed_in)), "change %", "speedup %", ""}};
}

}  // namespace

double Change::percent() const noexcept {
  return before_ms > 0 ? 100 * (now_ms / before_ms - 1) : 0;
}

std::vector<Change> compare(const BenchRun& now, const BenchRun& before) {
  check_alike(now, before);
  std::vector<Change> changes;
  for (const BenchRow& row : now.rows) {
    const auto old = std::ranges::find_if(before.rows, [&](const BenchRow& other) {
      return other.kernel == row.kernel && other.point == row.point;
    });
    if (old == before.rows.end()) continue;
    const TimeSummary &a = old->result.time, &b = row.result.time;
    changes.push_back({.kernel = row.kernel,
                       .point = row.point,
                       .before_ms = a.median_ms,
                       .now_ms = b.median_ms,
                       .significant = a.high_ms < b.low_ms || b.high_ms < a.low_ms});
  }
  if (changes.empty()) {
    throw UsageError(
        "the earlier run has none of these kernels at these points; compare runs of the same specs "
        "and axes");
  }
  return changes;
}

std::string compare_text(const std::vector<Change>& changes, const BenchRun& now,
                         const BenchRun& before) {
  std::vector<std::vector<std::string>> lines = heading(now, before);
  for (const Change& change : changes) {
    lines.push_back(
        {change.kernel, to_string(change.point), fmt::format("{:.2f}", change.before_ms * 1e3),
         fmt::format("{:.2f}", change.now_ms * 1e3), fmt::format("{:+.2f}", change.percent())});
    if (now.timed_in != before.timed_in)
      lines.back().push_back(fmt::format("{:+.2f}", speedup(change)));
    lines.back().push_back(verdict(change));
  }
  std::string text = columns_text(lines, 2);
  if (now.device != before.device) {
    text += fmt::format("the earlier run is of another device: {}\n", before.device);
  }
  const std::size_t missing = now.rows.size() - changes.size();
  if (missing > 0) text += fmt::format("rows that the earlier run does not have: {}\n", missing);
  return text;
}

std::vector<Change> regressions(const std::vector<Change>& changes, double percent) {
  std::vector<Change> worse;
  std::ranges::copy_if(changes, std::back_inserter(worse), [&](const Change& change) {
    return change.significant && change.percent() > percent;
  });
  return worse;
}

}  // namespace tilejit::cli
