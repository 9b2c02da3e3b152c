#include <algorithm>

#include "reference/block.hpp"
#include "reference/execute.hpp"
#include "reference/results.hpp"

namespace tilejit::reference {
namespace {

using expr::Node;
using expr::NodeId;

/// Walks through complete runs of a pass, in the direction of its scans.
class RunScanner {
 public:
  RunScanner(const Problem& problem, const Pass& pass, Results& results, WithBounds with_bounds)
      : problem_(problem),
        pass_(pass),
        results_(results),
        block_(problem, pass, results, with_bounds) {
    for (const NodeId id : pass.scans) current_.push_back(fresh(problem, id));
  }

  void run(const Range& range) {
    const auto step = static_cast<std::int64_t>(block_.capacity());
    for (std::int64_t done = 0; done < range.last - range.first; done += step) {
      const std::int64_t count = std::min(step, range.last - range.first - done);
      const std::int64_t first = pass_.reverse ? range.last - done - count : range.first + done;
      block_.run(first, static_cast<std::size_t>(count));
      for (std::size_t k = 0; k < current_.size(); ++k) scan(k, first, count);
    }
  }

 private:
  void scan(std::size_t k, std::int64_t first, std::int64_t count) {
    const NodeId id = pass_.scans[k];
    const std::int64_t begin = pass_.reverse ? pass_.run - 1 : 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = pass_.reverse ? count - 1 - i : i;
      if ((first + at) % pass_.run == begin) current_[k] = start(id);
      const bool exclusive = problem_.program.nodes[id].exclusive;
      if (exclusive) write(results_[id], first + at, current_[k].result());
      current_[k].add(block_.values(problem_.program.nodes[id].args[0], at, 1));
      if (!exclusive) write(results_[id], first + at, current_[k].result());
    }
  }

  // An exclusive maximum or minimum counts the infinity from which it starts as a value.
  [[nodiscard]] Accumulator start(NodeId id) const {
    const Node& node = problem_.program.nodes[id];
    Accumulator accumulator = fresh(problem_, id);
    const bool is_extremum = node.op == expr::Op::scan_min || node.op == expr::Op::scan_max;
    if (!node.exclusive || !is_extremum || !is_floating(node.type)) return accumulator;
    const double infinity = accumulator.result().real;
    accumulator.add({.reals = {&infinity, 1}});
    return accumulator;
  }

  const Problem& problem_;
  const Pass& pass_;
  Results& results_;
  Block block_;
  std::vector<Accumulator> current_;  // one per scan
};

// Each run belongs to the range that contains its first element.
std::vector<Range> split_runs(const Pass& pass) {
  std::vector<Range> ranges = split(size(pass));
  if (pass.run == 0) return ranges;
  const auto next_run = [&](std::int64_t index) {
    const std::int64_t place = index % pass.run;
    return place == 0 ? index : index + (pass.run - place);
  };
  for (Range& range : ranges) range = {next_run(range.first), next_run(range.last)};
  return ranges;
}

}  // namespace

void scan(const Problem& problem, const Pass& pass, Results& results, WithBounds with_bounds) {
  for (const NodeId id : pass.scans) {
    results[id] = make_result(problem, pass.axes, id, with_bounds);
  }
  const std::vector<Range> ranges = split_runs(pass);
  std::vector<RunScanner> scanners;
  scanners.reserve(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    scanners.emplace_back(problem, pass, results, with_bounds);
  }
  run_parallel(ranges.size(), [&](std::size_t i) { scanners[i].run(ranges[i]); });
}

}  // namespace tilejit::reference
