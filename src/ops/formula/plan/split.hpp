#pragma once

#include <vector>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether a template can compute all reductions and scans of `program` in one kernel: all go over
/// the same axes, all scans go in one direction, and nothing combines a scan's results.
[[nodiscard]] bool is_one_kernel(const expr::Program& program);

/// What one of several kernels does: an operation whose tensors are temporaries and some tensors of
/// the whole operation. Its space is that of its own values: all other axes have extent 1.
struct Part {
  Fused op;
  formula::Analysis analysis;
  std::vector<int> tensors;  ///< numbers among the operation's tensors, followed by temporaries
  std::vector<std::int64_t> offsets = {};  ///< per tensor, where it begins; empty: all at 0
};
struct Split {
  std::vector<Part> parts;
  std::vector<Temporary> temporaries;
};

/// Splits an operation into several kernels. Only results of reductions and scans go through
/// memory; a later part computes anything else it needs again. The first part that can write an
/// output does so, unless a later part still reads what the output may replace. Throws
/// Error{unsupported} for more than 32 parts that reduce or scan.
[[nodiscard]] Split split(const Fused& op, const formula::Analysis& analysis);
/// The same for parts that do not go over their rows twice: a reduction of another one's result has
/// a part of its own, unless it is among the `joined` sums, and so have outputs with more than one
/// element per row.
[[nodiscard]] Split split_by_passes(const Fused& op, const formula::Analysis& analysis,
                                    const std::vector<expr::JoinedSum>& joined);

}  // namespace tilejit::plan
