#pragma once

#include "box/step_code.hpp"
#include "plan/launch_shape.hpp"
#include "render/tiles_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_box.cu. Each operand that passes through shared memory has a walk of
/// its own, all others share one.
class BoxWriter final : public TilesWriter {
 public:
  BoxWriter(const plan::Plan& plan, const plan::Box& box, Budget& budget)
      : TilesWriter(plan, budget),
        box_(box),
        computes_all_(computes_all(plan, box)),
        direct_(box, box.direct, plan::elements_within_budget(plan) / plan.vector) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_constants() override;
  void write_behind_formula() override;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const override;
  [[nodiscard]] bool is_stored(const plan::Operand& operand) const override;

  [[nodiscard]] static bool computes_all(const plan::Plan& plan, const plan::Box& box);
  /// What inputs hold that are not loaded.
  [[nodiscard]] const char* initial() const { return computes_all_ ? " = {}" : ""; }
  void write_shared();
  void write_tile();
  void write_shear();
  /// Writes the members that every walk has: where thread t begins, and which steps exist.
  void write_walk(const plan::Walk& walk);
  void write_direct_walk();
  void write_element();
  /// The first of the copies of a group that have the same element of the operand as copy `i`;
  /// empty if each has its own. It is this one that loads it.
  [[nodiscard]] std::string first_alike(const plan::Operand& operand) const;
  /// Writes how a vector of an operand that is not transposed is loaded.
  void write_direct_load(const plan::Operand& operand);
  /// Writes how one of a transposed operand is loaded, whose first element in shared memory is
  /// `element`.
  void write_shared_load(const plan::Operand& operand, const std::string& element);
  void write_transposed(const plan::Transposed& transposed);
  /// The same of an operand that is copied by runs.
  void write_runs(const plan::Transposed& transposed);
  void write_all_transposed();

  /// Whether boxes are cut off along mode `m` at the edge of the space.
  [[nodiscard]] bool is_ragged(std::size_t m) const { return !is_whole(m); }
  /// Declares c<m>, the coordinates of a walk's first element, that `code` asks for.
  [[nodiscard]] std::string coordinates(const plan::Walk& walk, const Code& code) const;
  /// The distance of step i from a walk's first step along modes with these strides; "0" if none.
  [[nodiscard]] std::string distance(const plan::Walk& walk,
                                     const std::vector<std::string>& strides,
                                     std::string_view type) const;
  [[nodiscard]] std::string distance_in_memory(const plan::Walk& walk,
                                               const std::vector<plan::OperandMode>& modes) const;
  /// Where a walk's first element, and its step i from there, lie in shared memory.
  [[nodiscard]] static std::string shared_begin(const plan::Walk& walk,
                                                const plan::Transposed& transposed);
  [[nodiscard]] std::string shared_distance(const plan::Walk& walk,
                                            const plan::Transposed& transposed) const;
  /// Declares `run_at` of tile/runs.cuh, and `valid`.
  void write_run_at(const plan::Transposed& transposed);
  /// Where the run of a thread's first element begins, relative to that element.
  [[nodiscard]] std::string distance_in_run(const plan::Transposed& transposed) const;
  /// The element that an operand's variable holds.
  [[nodiscard]] std::string element_of(const plan::Operand& operand, const char* prefix) const;

  const plan::Box& box_;
  const bool computes_all_;  ///< what the space cuts off a box as well, from zeros
  const StepCode direct_;
};

}  // namespace tilejit::render
