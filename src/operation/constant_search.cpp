#include "operation/constant_search.hpp"

#include <utility>

#include "tilejit/error.hpp"

namespace tilejit::operation {
namespace {

class ConstantSearch {
 public:
  ConstantSearch(std::span<const TunedConstant> constants, std::size_t budget,
                 const std::function<void(const Tuning&)>& fits)
      : constants_(constants), fits_(fits), most_(budget + 1) {}

  std::vector<Tuning> run(const Tuning& usual) {
    found_.push_back(usual);
    for (std::size_t changes = 1; changes <= constants_.size(); ++changes) {
      combine(usual, usual, 0, changes);
    }
    return std::move(found_);
  }

 private:
  /// Adds all combinations that choose `changes` more constants, from number `first` on.
  void combine(const Tuning& usual, const Tuning& from, std::size_t first, std::size_t changes) {
    if (changes == 0) return keep_if_fit(from);
    for (std::size_t i = first; i + changes <= constants_.size(); ++i) {
      const TunedConstant& constant = constants_[i];
      if (usual.constants.contains(constant.name)) continue;  // pinned
      for (const std::string& value : constant.values) {
        if (found_.size() == most_) return;
        if (value == constant.usual) continue;
        Tuning changed = from;
        changed.constants[constant.name] = value;
        combine(usual, changed, i + 1, changes - 1);
      }
    }
  }

  void keep_if_fit(const Tuning& tuning) {
    if (found_.size() == most_) return;
    try {
      fits_(tuning);
      found_.push_back(tuning);
    } catch (const Error&) {
      // The values do not fit the device, the launch, or each other.
    }
  }

  const std::span<const TunedConstant> constants_;
  const std::function<void(const Tuning&)>& fits_;
  const std::size_t most_;
  std::vector<Tuning> found_;
};

}  // namespace

std::vector<Tuning> search_constants(const Tuning& usual, std::span<const TunedConstant> constants,
                                     std::size_t budget,
                                     const std::function<void(const Tuning&)>& fits) {
  return ConstantSearch(constants, budget, fits).run(usual);
}

}  // namespace tilejit::operation
