#pragma once

#include <functional>
#include <string>

#include "expr/program.hpp"

namespace tilejit::render {

/// What the leaves of a condition are as intervals: the text of an Interval of tile/interval.cuh
/// for Op::index and Op::extent.
using IntervalLeaf = std::function<std::string(const expr::Node& node)>;

/// Statements that compute node `id` and all that it is made of as i<k>: an Interval for integers,
/// a Truth for conditions. What intervals say nothing of, such as tensors and floating values, may
/// be anything. One statement a line, indented by 4.
[[nodiscard]] std::string interval_text(const expr::Program& program, expr::NodeId id,
                                        const IntervalLeaf& leaf);

}  // namespace tilejit::render
