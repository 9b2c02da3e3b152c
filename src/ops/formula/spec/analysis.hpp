#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expr/program.hpp"
#include "tilejit/dim.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::formula {

struct Step;

/// Values that a step leaves in memory for later steps.
struct StepResult {
  std::string name;
  DType dtype = f32;
  std::vector<Dim> shape;
};

/// The meaning of a checked descriptor: the input of planning, the reference and launching.
///
/// A formula with products or x.T has several spaces, and its analysis is that of its steps: each
/// is an operation in one space. `shape` and `axes` are then empty, and `program` is that of all
/// steps together.
struct Analysis {
  expr::Program program;
  /// The iteration space: the broadcast shape of the inputs and of the axes that outputs add. One
  /// extent per axis, first axis first.
  std::vector<Dim> shape;
  /// For each tensor, the axis of the space for each of its top-level modes, ascending. Inputs are
  /// aligned at the last axis. An output may lack axes over which its value was reduced. A mode of
  /// extent 1 repeats; in an output it holds the one value that a reduction left.
  std::vector<std::vector<int>> axes;
  /// For each tensor: in, out or inout, never automatic.
  std::vector<Access> access;
  /// Every symbol of a layout, sorted, with the divisor promised for it (1: none).
  std::map<std::string, std::int64_t> symbols;
  std::vector<Step> steps;          ///< in order; empty for a formula of one space
  std::vector<StepResult> results;  ///< between the steps
};

/// An operation in one space, with tensors and scalars of the whole operation. Either a product
/// step (formula/product.hpp), or a formula without products.
struct Step {
  Fused op;  ///< without a formula
  Analysis analysis;
  std::vector<int> tensors;  ///< numbers among the operation's tensors, followed by the results
  std::string why = {};      ///< why it is no part of another step; empty for the last ones
};

/// Throws what `validate` throws. Pure.
[[nodiscard]] Analysis analyze(const Fused& op);

/// True if the program has a reduction. Scans do not count.
[[nodiscard]] bool has_reductions(const expr::Program& program) noexcept;

/// The largest known number that divides `dim` for every allowed value of its symbols; 0 if `dim`
/// is 0.
[[nodiscard]] std::int64_t divisor(const Dim& dim,
                                   const std::map<std::string, std::int64_t>& symbols);

}  // namespace tilejit::formula
