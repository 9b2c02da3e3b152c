#include "formula/overlap.hpp"

#include <algorithm>
#include <numeric>

namespace tilejit::formula {
namespace {

__extension__ using WideInt = __int128;  // can hold the reach of any modes

constexpr int kMaxSteps = 100'000;  // about a millisecond

/// The largest index of a mode.
WideInt reach(const KnownMode& mode) {
  return WideInt{mode.extent - 1} * mode.stride;
}

/// Two coordinates share an index if sum(stride_i * d_i) == 0 for some differences d_i, not all 0,
/// with |d_i| < extent_i.
class Differences {
 public:
  explicit Differences(std::vector<KnownMode> modes) : modes_(std::move(modes)) {
    std::ranges::sort(modes_, std::ranges::greater(), &KnownMode::stride);
  }

  Overlap find() {
    while (remove_one()) {
    }
    if (modes_.empty()) return Overlap::none;
    // Neither of the two could be removed, so they collide.
    if (modes_.size() == 2) return Overlap::found;
    rest_.assign(modes_.size() + 1, 0);
    common_.assign(modes_.size() + 1, 0);
    for (std::size_t i = modes_.size(); i-- > 0;) {
      rest_[i] = rest_[i + 1] + reach(modes_[i]);
      common_[i] = std::gcd(common_[i + 1], modes_[i].stride);
    }
    const bool found = search(0, 0, false);
    return steps_ > kMaxSteps ? Overlap::unknown : found ? Overlap::found : Overlap::none;
  }

 private:
  /// Removes a mode whose difference must be 0.
  bool remove_one() {
    WideInt smaller = 0;
    for (std::size_t i = 1; i < modes_.size(); ++i) smaller += reach(modes_[i]);
    for (std::size_t i = 0; i < modes_.size(); ++i) {
      std::int64_t others = 0;
      for (std::size_t j = 0; j < modes_.size(); ++j) {
        if (j != i) others = std::gcd(others, modes_[j].stride);
      }
      const std::int64_t stride = modes_[i].stride;
      const bool beyond = i == 0 && stride > smaller;  // the others cannot cancel it
      // d_i * stride is a multiple of `others` only if d_i is a multiple of this quotient.
      const bool indivisible = others / std::gcd(others, stride) >= modes_[i].extent;
      if (!beyond && !indivisible) continue;
      modes_.erase(modes_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  /// Whether the modes from i on can add up to `target`. `moved`: an earlier difference is not 0.
  bool search(std::size_t i, WideInt target, bool moved) {
    if (i == modes_.size()) return moved && target == 0;
    const WideInt stride = modes_[i].stride, rest = rest_[i + 1], most = modes_[i].extent - 1;
    // The first difference that is not 0 can be taken as positive.
    const WideInt first = moved ? std::max(-most, divide_up(target - rest, stride)) : 0;
    const WideInt last = std::min(most, -divide_up(-(target + rest), stride));
    for (WideInt d = first; d <= last; ++d) {
      if (++steps_ > kMaxSteps) return false;
      const WideInt left = target - d * stride;
      const std::int64_t common = common_[i + 1];
      if (common != 0 && left % common != 0) continue;
      if (search(i + 1, left, moved || d != 0)) return true;
    }
    return false;
  }

  static WideInt divide_up(WideInt a, WideInt b) { return a / b + (a % b > 0 ? 1 : 0); }

  std::vector<KnownMode> modes_;      // by descending stride
  std::vector<WideInt> rest_;         // reach of the modes from i on
  std::vector<std::int64_t> common_;  // gcd of their strides
  int steps_ = 0;
};

}  // namespace

Overlap find_overlap(std::vector<KnownMode> modes) {
  return Differences(std::move(modes)).find();
}

}  // namespace tilejit::formula
