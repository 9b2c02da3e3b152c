#include "program/candidates.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "program/check.hpp"
#include "program/kernel_plan.hpp"
#include "tilejit/error.hpp"

namespace tilejit::program {
namespace {

class ProgramSearch {
 public:
  ProgramSearch(const TileProgram& program, const Target& target, std::size_t budget)
      : program_(std::make_shared<const TileProgram>(program)),
        target_(target),
        most_(budget + 1) {}

  std::vector<Tuning> run() {
    found_.push_back(program_->tuning);
    for (std::size_t changes = 1; changes <= program_->tune.size(); ++changes) {
      combine(program_->tuning, 0, changes);
    }
    return std::move(found_);
  }

 private:
  /// Adds all combinations that choose `changes` more constants, from number `first` on.
  void combine(const Tuning& from, std::size_t first, std::size_t changes) {
    if (changes == 0) return keep_if_fit(from);
    for (std::size_t i = first; i + changes <= program_->tune.size(); ++i) {
      const TileValues& tune = program_->tune[i];
      if (program_->tuning.constants.contains(tune.name)) continue;  // pinned
      const std::string usual = usual_value(tune.name);
      for (const Number& value : tune.values) {
        if (found_.size() == most_) return;
        Tuning changed = from;
        changed.constants[tune.name] = to_string(value);
        if (changed.constants[tune.name] != usual) combine(changed, i + 1, changes - 1);
      }
    }
  }

  [[nodiscard]] std::string usual_value(const std::string& name) const {
    const auto found = std::ranges::find(program_->constants, name, &TileConstant::name);
    return found == program_->constants.end() ? std::string() : to_string(found->value);
  }

  void keep_if_fit(const Tuning& tuning) {
    if (found_.size() == most_) return;
    try {
      (void)make_plan(program_, tuning, target_);
      found_.push_back(tuning);
    } catch (const Error&) {
      // The values do not fit the device, or each other.
    }
  }

  std::shared_ptr<const TileProgram> program_;
  const Target& target_;
  const std::size_t most_;
  std::vector<Tuning> found_;
};

}  // namespace

std::vector<Tuning> candidates(const TileProgram& program, const Target& target,
                               std::size_t budget) {
  (void)check(program, program.tuning);
  return ProgramSearch(program, target, budget).run();
}

}  // namespace tilejit::program
