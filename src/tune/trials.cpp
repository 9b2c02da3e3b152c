#include <algorithm>
#include <cmath>

#include "operation/descriptor.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {
namespace {

// Times of the same kernel vary by this much between runs.
constexpr double kLeastGain = 0.01;

Trial run_trial(const Operation& op, const Tuning& tuning, const Measure& measure, bool must_work) {
  Trial trial{.tuning = tuning};
  try {
    trial.milliseconds = measure(op.with_tuning(tuning));
  } catch (const Error& error) {
    if (must_work) throw;
    trial.failure = error.what();
  }
  return trial;
}

}  // namespace

std::string operation_class(const Operation& op, const Target& target) {
  return op.with_tuning({}).descriptor().plan(target).body->tuning_class();
}

std::vector<Tuning> tuning_candidates(const Operation& op, const Target& target,
                                      std::size_t budget) {
  return op.descriptor().tuning_candidates(target, budget);
}

std::vector<Trial> run_trials(const Operation& op, const std::vector<Tuning>& candidates,
                              const Measure& measure, const Progress& progress) {
  std::vector<Trial> trials;
  for (const Tuning& tuning : candidates) {
    trials.push_back(run_trial(op, tuning, measure, trials.empty()));
    if (progress) progress(trials.back());
  }
  return trials;
}

std::size_t best_trial(const std::vector<Trial>& trials) {
  if (trials.empty()) {
    throw Error(ErrorCode::invalid_argument, "the best of no trials was asked for; run some first");
  }
  const auto time_of = [](const Trial& trial) {
    return trial.failure.empty() ? trial.milliseconds : HUGE_VAL;
  };
  const auto best = std::ranges::min_element(trials, {}, time_of);
  const bool gains = time_of(*best) <= (1 - kLeastGain) * time_of(trials.front());
  return gains ? static_cast<std::size_t>(best - trials.begin()) : 0;
}

}  // namespace tilejit
