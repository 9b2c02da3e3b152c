#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::render {

/// How the steps of a walk become code: `copies` of them are written out, in a loop of `groups`.
/// Step (g, i) is copy i of turn g. The first modes have their steps in the copies, the last ones
/// in the loop, and one between them may have both.
class StepCode {
 public:
  /// At most `most` copies.
  StepCode(const plan::Box& box, const plan::Walk& walk, std::int64_t most);

  [[nodiscard]] std::int64_t copies() const noexcept { return copies_; }
  [[nodiscard]] std::int64_t groups() const noexcept { return groups_; }
  /// Steps along mode `walk.modes[at]`: as many as the box has, or a few more.
  [[nodiscard]] std::int64_t steps_along(std::size_t at) const noexcept;
  /// Which of these step (g, i) takes, in terms of `g` and `i`.
  [[nodiscard]] std::string text(std::size_t at) const;
  /// The first of the copies that differ from copy `i` only along modes for which `varies` is
  /// false, in terms of `i`; empty if that is always `i` itself.
  [[nodiscard]] std::string first_alike(const std::vector<bool>& varies) const;

 private:
  struct Mode {
    std::int64_t copies = 1, copies_before = 1, groups = 1, groups_before = 1;
  };
  std::vector<Mode> modes_;  ///< of the walk
  std::int64_t copies_ = 1, groups_ = 1;
};

}  // namespace tilejit::render
