// Chooses which knobs the tuner tries.
#include <algorithm>
#include <set>

#include "knobs/knobs.hpp"
#include "knobs/of_families.hpp"
#include "spec/tuning.hpp"
#include "tilejit/error.hpp"

namespace tilejit::knobs {
namespace {

using plan::Plan;

void pin(Tuning& tuning, const Tuning& also) {
  const auto take = [](auto& mine, const auto& other) {
    if (other) mine = other;
  };
  take(tuning.threads, also.threads);
  take(tuning.vector, also.vector);
  take(tuning.unroll, also.unroll);
  take(tuning.tile, also.tile);
  take(tuning.row_threads, also.row_threads);
  take(tuning.cluster, also.cluster);
  take(tuning.splits, also.splits);
  take(tuning.register_vectors, also.register_vectors);
  take(tuning.atomics, also.atomics);
}

/// Goes through combinations of knobs and keeps those that give a new plan.
class Search {
 public:
  Search(const Fused& op, const formula::Analysis& analysis, const Target& target,
         std::size_t budget)
      : op_(op), target_(target), analysis_(analysis), most_(budget + 1) {}

  std::vector<Tuning> run() {
    const Plan plan = plan::make_plan(op_, analysis_, target_);
    found_.push_back(op_.tuning);
    plans_.insert(plan::to_json(plan));
    const auto parts = plan::parts_of(plan);
    knobs_ = Knobs(parts.size() == 1 ? parts.front() : plan, op_.tuning).all();
    for (std::size_t changes = 1; changes <= knobs_.size(); ++changes) {
      std::vector<Combination> combinations;
      combine({op_.tuning, 0}, 0, changes, combinations);
      std::ranges::stable_sort(combinations, {}, &Combination::distance);
      for (const Combination& combination : combinations) {
        if (found_.size() == most_) return std::move(found_);
        keep_if_new(combination.tuning);
      }
    }
    return std::move(found_);
  }

 private:
  /// Some knobs, and their distance from the plan's: the sum of their positions in Alternatives.
  struct Combination {
    Tuning tuning;
    std::size_t distance = 0;
  };

  /// Adds all combinations that change `changes` more knobs of `from`, from knob `first` on.
  void combine(const Combination& from, std::size_t first, std::size_t changes,
               std::vector<Combination>& all) const {
    if (changes == 0) return all.push_back(from);
    for (std::size_t knob = first; knob + changes <= knobs_.size(); ++knob) {
      for (std::size_t i = 0; i < knobs_[knob].size(); ++i) {
        Combination changed{from.tuning, from.distance + i};
        pin(changed.tuning, knobs_[knob][i]);
        combine(changed, knob + 1, changes - 1, all);
      }
    }
  }

  void keep_if_new(const Tuning& tuning) {
    Fused op = op_;
    op.tuning = tuning;
    spec::Problems out_of_range;
    spec::check_tuning(tuning, out_of_range);
    if (!out_of_range.empty()) return;
    try {
      if (plans_.insert(plan::to_json(plan::make_plan(op, analysis_, target_))).second) {
        found_.push_back(tuning);
      }
    } catch (const Error&) {
      // The knobs do not fit the operation, or each other.
    }
  }

  const Fused& op_;
  const Target& target_;
  const formula::Analysis& analysis_;
  const std::size_t most_;
  std::vector<Alternatives> knobs_;
  std::vector<Tuning> found_;
  std::set<std::string> plans_;
};

}  // namespace

std::vector<Tuning> candidates(const Fused& op, const formula::Analysis& analysis,
                               const Target& target, std::size_t budget) {
  return Search(op, analysis, target, budget).run();
}

}  // namespace tilejit::knobs
