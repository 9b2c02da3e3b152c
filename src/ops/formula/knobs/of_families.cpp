#include "knobs/of_families.hpp"

#include <algorithm>
#include <cmath>

namespace tilejit::knobs {
namespace {

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

}  // namespace

void Knobs::add(std::optional<int> Tuning::*knob, std::vector<int> values, int chosen) {
  if (!(pinned_.*knob)) knobs_.push_back(others(knob, std::move(values), chosen));
}

std::vector<Alternatives> Knobs::all() {
  add(&Tuning::threads, {64, 128, 256, 512, 1024}, plan_.threads);
  std::visit([this](const auto& family) { add_knobs(family, *this); }, plan_.family);
  add(&Tuning::vector, {plan_.vector / 2, plan_.vector * 2}, plan_.vector);
  return std::move(knobs_);
}

}  // namespace tilejit::knobs
