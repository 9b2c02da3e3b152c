#include "cuda/tuning.hpp"

#include <algorithm>
#include <utility>

#include "cuda/constants.hpp"
#include "cuda/plan.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cuda {
namespace {

class TuneSearch {
 public:
  TuneSearch(const Resolved& kernel, const Target& target, std::size_t budget)
      : kernel_(std::make_shared<const Resolved>(kernel)), target_(target), most_(budget + 1) {}

  std::vector<Tuning> run() {
    found_.push_back(kernel_->tuning);
    for (std::size_t changes = 1; changes <= kernel_->tune.size(); ++changes) {
      combine(kernel_->tuning, 0, changes);
    }
    return std::move(found_);
  }

 private:
  /// Adds all combinations that choose `changes` more constants, from number `first` on.
  void combine(const Tuning& from, std::size_t first, std::size_t changes) {
    if (changes == 0) return keep_if_fit(from);
    for (std::size_t i = first; i + changes <= kernel_->tune.size(); ++i) {
      const CudaTune& tune = kernel_->tune[i];
      if (kernel_->tuning.constants.contains(tune.name)) continue;  // pinned
      const std::string usual = usual_value(tune.name);
      for (const CudaConstant::Value& value : tune.values) {
        if (found_.size() == most_) return;
        Tuning changed = from;
        changed.constants[tune.name] = to_text(value);
        if (changed.constants[tune.name] != usual) combine(changed, i + 1, changes - 1);
      }
    }
  }

  [[nodiscard]] std::string usual_value(const std::string& name) const {
    const auto constant = std::ranges::find(kernel_->constants, name, &CudaConstant::name);
    return constant == kernel_->constants.end() ? std::string() : to_text(constant->value);
  }

  void keep_if_fit(const Tuning& tuning) {
    if (found_.size() == most_) return;
    try {
      (void)make_plan(kernel_, tuning, target_);
      found_.push_back(tuning);
    } catch (const Error&) {
      // The values do not fit the launch, or each other.
    }
  }

  std::shared_ptr<const Resolved> kernel_;
  const Target& target_;
  const std::size_t most_;
  std::vector<Tuning> found_;
};

}  // namespace

std::vector<Tuning> candidates(const Resolved& kernel, const Target& target, std::size_t budget) {
  (void)check(kernel, kernel.tuning);
  return TuneSearch(kernel, target, budget).run();
}

}  // namespace tilejit::cuda
