#pragma once

#include <vector>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether a template computes all reductions and scans of `program` in one kernel: they go over
/// the same axes, scans in one direction, and nothing combines a scan's results.
[[nodiscard]] bool is_one_kernel(const expr::Program& program);

/// What one of several kernels does: an operation whose tensors are some of the whole one's and
/// temporaries. Its space is that of its own values: other axes have extent 1.
struct Part {
  Fused op;
  formula::Analysis analysis;
  std::vector<int> tensors;  ///< numbers among the operation's tensors, then the temporaries
};
struct Split {
  std::vector<Part> parts;
  std::vector<Temporary> temporaries;
};

/// Splits an operation that is not one kernel, so that only results of reductions and scans go
/// through memory: what else a later part needs is computed again. An output is written by the
/// first part that can, unless a later one still reads what it may replace. Throws
/// Error{unsupported} for more than 32 parts that combine.
[[nodiscard]] Split split(const Fused& op, const formula::Analysis& analysis);

}  // namespace tilejit::plan
