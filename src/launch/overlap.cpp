#include "launch/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tilejit::launch {
namespace {

constexpr std::size_t kMaxTerms = 33;
constexpr int kMaxSteps = 10'000;              // some tens of microseconds
constexpr std::int64_t kMaxBytes = 1LL << 60;  // keeps sums of two ranges far from overflow

/// factor * x with 0 <= x <= limit.
struct Term {
  std::int64_t factor = 0;
  std::int64_t limit = 0;
  std::int64_t rest = 0;  ///< the largest value of all later terms together
};

/// Decides whether sum(factor_i * x_i) == target has a solution.
class Equation {
 public:
  /// Returns false if there is no room for the term.
  bool add(std::int64_t factor, std::int64_t limit) noexcept {
    if (factor == 0 || limit == 0) return true;
    for (Term& term : terms()) {
      if (term.factor == factor) {
        term.limit += limit;
        return true;
      }
    }
    if (count_ == kMaxTerms) return false;
    terms_[count_++] = {factor, limit, 0};
    return true;
  }

  [[nodiscard]] bool solvable(std::int64_t target) noexcept {
    std::sort(terms_.begin(), terms_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const Term& a, const Term& b) { return a.factor > b.factor; });
    std::int64_t rest = 0;
    for (std::size_t i = count_; i-- > 0;) {
      terms_[i].rest = rest;
      rest += terms_[i].factor * terms_[i].limit;
    }
    steps_ = 0;
    return target <= rest && search(0, target);
  }

 private:
  [[nodiscard]] std::span<Term> terms() noexcept { return {terms_.data(), count_}; }

  // At most kMaxTerms levels deep. Returns true if it gives up.
  [[nodiscard]] bool search(std::size_t i, std::int64_t target) noexcept {
    if (target == 0) return true;
    if (i == count_) return false;
    const Term& term = terms_[i];
    const std::int64_t most = std::min(term.limit, target / term.factor);
    const std::int64_t missing = std::max<std::int64_t>(0, target - term.rest);
    for (std::int64_t x = (missing + term.factor - 1) / term.factor; x <= most; ++x) {
      if (++steps_ > kMaxSteps || search(i + 1, target - x * term.factor)) return true;
    }
    return false;
  }

  std::array<Term, kMaxTerms> terms_;
  std::size_t count_ = 0;
  int steps_ = 0;
};

bool add_leaves(Equation& equation, const Footprint& tensor) noexcept {
  for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
    const std::int64_t stride = tensor.strides[i] * tensor.element_bytes;
    if (!equation.add(stride, tensor.extents[i] - 1)) return false;
  }
  return true;
}

}  // namespace

bool share_memory(const Footprint& a, const Footprint& b) noexcept {
  if (a.address > b.address) return share_memory(b, a);
  if (b.address - a.address >= static_cast<std::uint64_t>(a.bytes)) return false;
  if (a.bytes > kMaxBytes || b.bytes > kMaxBytes) return true;
  // a + sum(s*x) + p == b + sum(t*y) + q for bytes p, q inside an element. If y and q are counted
  // down from their ends, every factor is positive, and the right side is the last byte of b
  // relative to a.
  Equation equation;
  if (!add_leaves(equation, a) || !add_leaves(equation, b) ||
      !equation.add(1, a.element_bytes + b.element_bytes - 2)) {
    return true;
  }
  return equation.solvable(static_cast<std::int64_t>(b.address - a.address) + b.bytes - 1);
}

}  // namespace tilejit::launch
