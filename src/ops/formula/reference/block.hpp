#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/bounds.hpp"
#include "reference/problem.hpp"
#include "reference/results.hpp"
#include "reference/schedule.hpp"

namespace tilejit::reference {

/// Evaluates the nodes of a pass for neighbouring elements together. Each node has a column of
/// values (double, or std::int64_t for integers and bool) and, if asked for, one of bounds. Used by
/// one thread. The arguments must outlive the object. Only the constructor allocates more than a
/// coordinate.
class Block {
 public:
  /// `results` holds those reductions and scans of the pass that it reads without their arguments.
  Block(const Problem& problem, const Pass& pass, const Results& results, WithBounds with_bounds);

  /// The most elements per call of `run`.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// Reads the inputs at indices first .. first + count - 1 of the pass and computes its nodes.
  /// Stores nothing, since all loads must come before the caller's stores.
  void run(std::int64_t first, std::size_t count);

  /// The columns of a node after the last run.
  [[nodiscard]] std::span<const double> reals(expr::NodeId id) const;
  [[nodiscard]] std::span<const std::int64_t> integers(expr::NodeId id) const;
  [[nodiscard]] std::span<const double> bounds(expr::NodeId id) const;
  /// `count` neighbouring values from index `at` on, with bounds if they were asked for.
  [[nodiscard]] Values values(expr::NodeId id, std::int64_t at, std::int64_t count) const;
  /// Element offsets of a loaded or stored tensor, after the last run.
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
  void load_kept(const KeptValues& kept, const expr::Node& node, expr::NodeId id);
  void cast(const expr::Node& node, expr::NodeId id);
  void compute_reals(const expr::Node& node, expr::NodeId id);
  void compute_integers(const expr::Node& node, expr::NodeId id);
  void compute_comparison(const expr::Node& node, expr::NodeId id);
  void select(const expr::Node& node, expr::NodeId id);
  void limit(const expr::Node& node, expr::NodeId id);
  void tighten(expr::NodeId id);
  void add_own_error(expr::NodeId id);

  [[nodiscard]] DType type(expr::NodeId id) const { return problem_.program.nodes[id].type; }
  [[nodiscard]] Approx approx(expr::NodeId id, std::size_t i) const;
  [[nodiscard]] Approxes operands(const expr::Node& node, std::size_t i) const;
  [[nodiscard]] std::size_t column(expr::NodeId id) const { return columns_[id] * capacity_; }
  double* reals_of(expr::NodeId id) { return reals_.data() + column(id); }
  std::int64_t* integers_of(expr::NodeId id) { return integers_.data() + column(id); }
  double* bounds_of(expr::NodeId id) { return bounds_.data() + column(id); }

  // A layout whose offsets are needed, in the order of the pass's axes.
  using Modes = std::vector<ModeLeaves>;

  const Problem& problem_;
  const Pass& pass_;
  const Results& results_;
  std::size_t capacity_;
  std::size_t count_ = 0;
  bool with_bounds_;
  std::vector<std::size_t> columns_;  // by node: its position among the nodes of the pass
  std::vector<Modes> tensor_modes_;   // by tensor; empty: not used
  std::vector<Modes> node_modes_;     // by node: layout of an index, a reduction or a scan
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
  std::vector<double> bounds_;  // empty without bounds
  std::vector<std::int64_t> offsets_;
};

}  // namespace tilejit::reference
