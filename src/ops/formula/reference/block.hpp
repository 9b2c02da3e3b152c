#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/bounds.hpp"
#include "reference/problem.hpp"
#include "reference/results.hpp"
#include "reference/schedule.hpp"

namespace tilejit::reference {

/// Evaluates the nodes of a pass for neighbouring elements at once: each has a column of values
/// (double, or std::int64_t for integers and bool) and, if asked for, one of bounds. For one
/// thread; the arguments must outlive it. Only the constructor allocates more than a coordinate.
class Block {
 public:
  /// `results`: of the reductions and scans among the nodes of the pass, as far as their arguments
  /// are not.
  Block(const Problem& problem, const Pass& pass, const Results& results, WithBounds with_bounds);

  /// Elements a call of `run` may take.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// Reads the inputs at indices first .. first + count - 1 of the pass and computes its nodes.
  /// Stores nothing: all loads come before the caller's stores.
  void run(std::int64_t first, std::size_t count);

  /// Columns of a node, as of the last run.
  [[nodiscard]] std::span<const double> reals(expr::NodeId id) const;
  [[nodiscard]] std::span<const std::int64_t> integers(expr::NodeId id) const;
  [[nodiscard]] std::span<const double> bounds(expr::NodeId id) const;
  /// Those of `count` neighbours from `at` on, bounds if they were asked for.
  [[nodiscard]] Values values(expr::NodeId id, std::int64_t at, std::int64_t count) const;
  /// Element offsets of a loaded or stored tensor, as of the last run.
  [[nodiscard]] std::span<const std::int64_t> offsets(int tensor) const;

 private:
  void place_columns();
  void fill_uniform(expr::NodeId id);
  void fill_uniform_real(const expr::Node& node, expr::NodeId id);
  void read_result(const expr::Node& node, expr::NodeId id, std::int64_t first);
  [[nodiscard]] std::vector<ModeLeaves> place_modes(const expr::Node& node) const;
  [[nodiscard]] std::int64_t extent_of(const expr::Node& node) const;
  void compute(expr::NodeId id);
  void load(const expr::Node& node, expr::NodeId id);
  void cast(const expr::Node& node, expr::NodeId id);
  void compute_reals(const expr::Node& node, expr::NodeId id);
  void compute_integers(const expr::Node& node, expr::NodeId id);
  void compute_comparison(const expr::Node& node, expr::NodeId id);
  void select(const expr::Node& node, expr::NodeId id);
  void limit(const expr::Node& node, expr::NodeId id);
  void tighten(expr::NodeId id);

  [[nodiscard]] DType type(expr::NodeId id) const { return problem_.program.nodes[id].type; }
  [[nodiscard]] Approx approx(expr::NodeId id, std::size_t i) const;
  [[nodiscard]] Approxes operands(const expr::Node& node, std::size_t i) const;
  [[nodiscard]] std::size_t column(expr::NodeId id) const { return columns_[id] * capacity_; }
  double* reals_of(expr::NodeId id) { return reals_.data() + column(id); }
  std::int64_t* integers_of(expr::NodeId id) { return integers_.data() + column(id); }
  double* bounds_of(expr::NodeId id) { return bounds_.data() + column(id); }

  // Memory whose offsets are needed, in the order of the pass's axes.
  using Modes = std::vector<ModeLeaves>;

  const Problem& problem_;
  const Pass& pass_;
  const Results& results_;
  std::size_t capacity_;
  std::size_t count_ = 0;
  bool with_bounds_;
  std::vector<std::size_t> columns_;  // a node of the pass: its place among them
  std::vector<Modes> tensor_modes_;   // a tensor; empty: it is not reached
  std::vector<Modes> node_modes_;     // an index, a reduction, a scan: of its place or result
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
  std::vector<double> bounds_;  // empty without bounds
  std::vector<std::int64_t> offsets_;
};

}  // namespace tilejit::reference
