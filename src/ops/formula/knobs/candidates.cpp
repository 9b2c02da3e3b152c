// Chooses which knobs the tuner tries.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "knobs/knobs.hpp"
#include "spec/tuning.hpp"
#include "tilejit/error.hpp"

namespace tilejit::knobs {
namespace {

using plan::Plan;

/// Values of one knob, each as a Tuning that pins it. Values nearest to the plan's come first.
using Alternatives = std::vector<Tuning>;

/// All `values` except `chosen`, nearest to it first.
Alternatives others(std::optional<int> Tuning::*knob, std::vector<int> values, int chosen) {
  std::erase_if(values, [&](int value) { return value == chosen || value < 0; });
  const auto distance = [&](int value) {
    return std::abs(std::log2(std::max(value, 1)) - std::log2(std::max(chosen, 1)));
  };
  std::ranges::stable_sort(values, {}, distance);
  Alternatives alternatives;
  for (const int value : values) alternatives.emplace_back().*knob = value;
  return alternatives;
}

Alternatives other_tiles(const plan::Tile& tile) {
  Alternatives alternatives;
  const int columns = tile.columns, rows = tile.rows;
  const std::array<int, 2> sides[] = {{columns / 2, rows},     {columns, rows / 2},
                                      {columns * 2, rows},     {columns, rows * 2},
                                      {columns / 2, rows / 2}, {columns * 2, rows * 2}};
  for (const auto& side : sides) alternatives.push_back({.tile = side});
  return alternatives;
}

/// The knobs of each family that are not pinned.
class Knobs {
 public:
  Knobs(const Plan& plan, const Tuning& pinned) : plan_(plan), pinned_(pinned) {}

  std::vector<Alternatives> all() {
    add(&Tuning::threads, {64, 128, 256, 512, 1024}, plan_.threads);
    std::visit([this](const auto& family) { add_of(family); }, plan_.family);
    add(&Tuning::vector, {plan_.vector / 2, plan_.vector * 2}, plan_.vector);
    return std::move(knobs_);
  }

 private:
  void add(std::optional<int> Tuning::*knob, std::vector<int> values, int chosen) {
    if (!(pinned_.*knob)) knobs_.push_back(others(knob, std::move(values), chosen));
  }

  void add_unroll() { add(&Tuning::unroll, {1, 2, 4, 8}, plan_.unroll); }

  void add_of(const plan::Map&) { add_unroll(); }
  void add_of(const plan::ThreadValue&) { add_unroll(); }
  void add_of(const plan::Several&) {}
  void add_of(const plan::Tile& tile) {
    if (!pinned_.tile) knobs_.push_back(other_tiles(tile));
  }
  void add_of(const plan::Scan& scan) {
    if (scan.held == 0) add_unroll();
  }
  void add_of(const plan::Rows& rows) {
    if (rows.held == 0) add_unroll();
    const int lanes = rows.lanes, shares = rows.shares;
    add(&Tuning::lanes, {lanes / 4, lanes / 2, lanes * 2, lanes * 4}, lanes);
    add(&Tuning::cluster, {1, 2, 4, 8}, rows.cluster);
    add(&Tuning::shares, {1, shares / 2, shares * 2, shares * 4}, shares);
    if (rows.held > 0) add(&Tuning::held, {0}, rows.held);
    if (shares > 1 && !pinned_.atomics) knobs_.push_back({{.atomics = !rows.atomics}});
  }

  const Plan& plan_;
  const Tuning& pinned_;
  std::vector<Alternatives> knobs_;
};

void pin(Tuning& tuning, const Tuning& also) {
  const auto take = [](auto& mine, const auto& other) {
    if (other) mine = other;
  };
  take(tuning.threads, also.threads);
  take(tuning.vector, also.vector);
  take(tuning.unroll, also.unroll);
  take(tuning.tile, also.tile);
  take(tuning.lanes, also.lanes);
  take(tuning.cluster, also.cluster);
  take(tuning.shares, also.shares);
  take(tuning.held, also.held);
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
    knobs_ = Knobs(plan, op_.tuning).all();
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
