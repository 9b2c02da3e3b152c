#include "box/step_code.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/integer.hpp"

namespace tilejit::render {
namespace {

/// Digit `digit` of a number whose lower digits have `before` values in all.
std::string digit_of(const char* number, std::int64_t before, std::int64_t digit) {
  std::string text = fmt::format("u32({})", number);
  if (before > 1) text += fmt::format(" / {}", before);
  return text + fmt::format(" % {}", digit);
}

}  // namespace

StepCode::StepCode(const plan::Box& box, const plan::Walk& walk, std::int64_t most) {
  for (std::size_t at = 0; at < walk.modes.size(); ++at) {
    const std::int64_t steps = plan::steps_along(box, walk, at);
    const std::int64_t room = std::max<std::int64_t>(1, groups_ == 1 ? most / copies_ : 1);
    Mode mode{.copies_before = copies_, .groups = core::ceil_div(steps, room)};
    mode.groups_before = groups_;
    mode.copies = core::ceil_div(steps, mode.groups);
    modes_.push_back(mode);
    copies_ *= mode.copies;
    groups_ *= mode.groups;
  }
}

std::int64_t StepCode::steps_along(std::size_t at) const noexcept {
  return modes_[at].copies * modes_[at].groups;
}

std::string StepCode::text(std::size_t at) const {
  const Mode& mode = modes_[at];
  const std::string copy = digit_of("i", mode.copies_before, mode.copies);
  if (mode.groups == 1) return copy;
  const std::string group = digit_of("g", mode.groups_before, mode.groups);
  return mode.copies == 1 ? group : fmt::format("({} + {} * {})", copy, group, mode.copies);
}

std::string StepCode::first_alike(const std::vector<bool>& varies) const {
  std::string text;
  bool all_vary = true;
  for (std::size_t at = 0; at < modes_.size(); ++at) {
    const Mode& mode = modes_[at];
    if (mode.copies == 1) continue;
    all_vary = all_vary && varies[at];
    if (!varies[at]) continue;
    text += text.empty() ? "" : " + ";
    text += digit_of("i", mode.copies_before, mode.copies);
    if (mode.copies_before > 1) text += fmt::format(" * {}", mode.copies_before);
  }
  if (all_vary) return {};
  return text.empty() ? "0" : text;
}

}  // namespace tilejit::render
