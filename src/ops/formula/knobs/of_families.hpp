#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::knobs {

/// Values of one knob, each as a Tuning that pins it. Values nearest to the plan's come first.
using Alternatives = std::vector<Tuning>;

/// The knobs of a plan that are not pinned.
class Knobs {
 public:
  Knobs(const plan::Plan& plan, const Tuning& pinned) : plan_(plan), pinned_(pinned) {}

  [[nodiscard]] std::vector<Alternatives> all();

  // For families.
  [[nodiscard]] const Tuning& pinned() const noexcept { return pinned_; }
  [[nodiscard]] const plan::Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Target& target() const noexcept { return plan_.target; }
  /// Adds a knob with the values that differ from `chosen`; negative ones are left out. Does
  /// nothing if the knob is pinned.
  void add(std::optional<int> Tuning::*knob, std::vector<int> values, int chosen);
  void add(Alternatives alternatives) { knobs_.push_back(std::move(alternatives)); }
  void add_unroll() { add(&Tuning::unroll, {1, 2, 4, 8}, plan_.unroll); }

 private:
  const plan::Plan& plan_;
  const Tuning& pinned_;
  std::vector<Alternatives> knobs_;
};

/// Adds the knobs that only some families have; in the folder of each.
void add_knobs(const plan::Map& map, Knobs& knobs);
void add_knobs(const plan::Tile& tile, Knobs& knobs);
void add_knobs(const plan::Sheared& sheared, Knobs& knobs);
void add_knobs(const plan::Box& box, Knobs& knobs);
void add_knobs(const plan::Rows& rows, Knobs& knobs);
void add_knobs(const plan::StagedRows& staged, Knobs& knobs);
void add_knobs(const plan::Strips& strips, Knobs& knobs);
void add_knobs(const plan::Scan& scan, Knobs& knobs);
void add_knobs(const plan::ThreadValue& tv, Knobs& knobs);
void add_knobs(const plan::MatmulMma& product, Knobs& knobs);
void add_knobs(const plan::MatmulSimt& product, Knobs& knobs);
void add_knobs(const plan::MatmulWgmma& product, Knobs& knobs);
void add_knobs(const plan::AttentionWgmma& attention, Knobs& knobs);
void add_knobs(const plan::AttentionMma& attention, Knobs& knobs);
/// Of one product of matrices; several kernels have none.
void add_knobs(const plan::Several& several, Knobs& knobs);

}  // namespace tilejit::knobs
