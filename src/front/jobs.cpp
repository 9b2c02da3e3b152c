#include "front/jobs.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tilejit::front {
namespace {

// A container may show many processors but allow the use of few, and each worker takes memory.
constexpr int kMostByDefault = 16;

int processors() noexcept {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int jobs_of(const Options& options) noexcept {
  const int jobs =
      options.compile_jobs > 0 ? options.compile_jobs : std::min(processors(), kMostByDefault);
  return std::max(1, jobs);
}

}  // namespace tilejit::front
