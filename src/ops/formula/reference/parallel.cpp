#include <algorithm>
#include <system_error>
#include <thread>

#include "reference/execute.hpp"

namespace tilejit::reference {

std::vector<Range> split(std::int64_t total) {
  constexpr std::int64_t kMinElements = 1 << 16;
  const auto threads = std::max<std::int64_t>(std::thread::hardware_concurrency(), 1);
  const std::int64_t count = std::clamp<std::int64_t>(total / kMinElements, 1, threads);
  const std::int64_t share = total / count, rest = total % count;
  std::vector<Range> ranges;
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t last = first + share + (i < rest ? 1 : 0);
    ranges.push_back({first, last});
    first = last;
  }
  return ranges;
}

void run_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (std::size_t i = 1; i < count; ++i) {
    try {
      threads.emplace_back(work, i);
    } catch (const std::system_error&) {
      work(i);
    }
  }
  if (count != 0) work(0);
}

}  // namespace tilejit::reference
