#include <algorithm>
#include <numeric>

#include "tilejit/compile_service.hpp"

namespace tilejit {

std::string_view to_string(CompileState state) noexcept {
  switch (state) {
    case CompileState::queued: return "queued";
    case CompileState::running: return "running";
    case CompileState::done: return "done";
    case CompileState::failed: return "failed";
    case CompileState::cancelled: return "cancelled";
  }
  return "unknown";
}

void TimeHistogram::add(double milliseconds) noexcept {
  const auto* bound = std::lower_bound(kBounds.begin(), kBounds.end(), milliseconds);
  ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
  sum_ms += milliseconds;
}

std::uint64_t TimeHistogram::total() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace tilejit
