#include <algorithm>
#include <cmath>

#include "tilejit/error.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {
namespace {

// Below, times of the same kernel differ from run to run.
constexpr double kLeastGain = 0.01;

Trial run_trial(const Fused& op, const Tuning& tuning, const Measure& measure, bool must_work) {
  Fused pinned = op;
  pinned.tuning = tuning;
  Trial trial{.tuning = tuning};
  try {
    trial.milliseconds = measure(pinned);
  } catch (const Error& error) {
    if (must_work) throw;
    trial.failure = error.what();
  }
  return trial;
}

}  // namespace

std::vector<Trial> run_trials(const Fused& op, const std::vector<Tuning>& candidates,
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
