#include <algorithm>
#include <numeric>

#include "tilejit/compile_service.hpp"

namespace tilejit {

void TimeHistogram::add(double milliseconds) noexcept {
  const auto* bound = std::lower_bound(kBounds.begin(), kBounds.end(), milliseconds);
  ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
  sum_ms += milliseconds;
}

std::uint64_t TimeHistogram::total() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace tilejit
