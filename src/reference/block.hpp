#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/bounds.hpp"
#include "reference/problem.hpp"

namespace tilejit::reference {

/// Whether error bounds are carried beside the values.
enum class WithBounds : std::uint8_t { no, yes };

/// Evaluates a program for neighbouring elements at once: each node has a column of values (double,
/// or std::int64_t for integers and bool) and, if asked for, one of bounds. For one thread; the
/// problem must outlive it. Only the constructor allocates more than a coordinate.
class Block {
 public:
  Block(const Problem& problem, WithBounds with_bounds);

  /// Elements a call of `run` may take.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// Reads the inputs at iteration indices first .. first + count - 1 and computes every node.
  /// Stores nothing: all loads come before the caller's stores.
  void run(std::int64_t first, std::size_t count);

  /// Columns of a node, as of the last run.
  [[nodiscard]] std::span<const double> reals(expr::NodeId id) const;
  [[nodiscard]] std::span<const std::int64_t> integers(expr::NodeId id) const;
  [[nodiscard]] std::span<const double> bounds(expr::NodeId id) const;
  /// Element offsets of a loaded or stored tensor, as of the last run.
  [[nodiscard]] std::span<const std::int64_t> offsets(int tensor) const;

 private:
  void fill_uniform(expr::NodeId id);
  void compute(expr::NodeId id);
  void load(const expr::Node& node, expr::NodeId id);
  void cast(const expr::Node& node, expr::NodeId id);
  void compute_reals(const expr::Node& node, expr::NodeId id);
  void compute_integers(const expr::Node& node, expr::NodeId id);
  void compute_comparison(const expr::Node& node, expr::NodeId id);
  void select(const expr::Node& node, expr::NodeId id);
  void limit(const expr::Node& node, expr::NodeId id);

  [[nodiscard]] DType type(expr::NodeId id) const { return problem_.program.nodes[id].type; }
  [[nodiscard]] Approx approx(expr::NodeId id, std::size_t i) const;
  [[nodiscard]] Approxes operands(const expr::Node& node, std::size_t i) const;
  double* reals_of(expr::NodeId id) { return reals_.data() + id * capacity_; }
  std::int64_t* integers_of(expr::NodeId id) { return integers_.data() + id * capacity_; }
  double* bounds_of(expr::NodeId id) { return bounds_.data() + id * capacity_; }

  const Problem& problem_;
  std::size_t capacity_;
  std::size_t count_ = 0;
  bool with_bounds_;
  std::vector<bool> reached_;  // a tensor: its offsets are needed
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
  std::vector<double> bounds_;  // empty without bounds
  std::vector<std::int64_t> offsets_;
};

}  // namespace tilejit::reference
