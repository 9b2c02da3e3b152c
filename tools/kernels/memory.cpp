#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "kernels/problem.hpp"

namespace tilejit::cli {
namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

std::uint64_t available_in_system() {
  std::ifstream file("/proc/meminfo");
  std::string field;
  std::uint64_t kibibytes = 0;
  while (file >> field) {
    if (field == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
  }
  return kUnbounded;
}

// Reads control groups version 2, as containers use them. Without a bound the file says "max",
// which does not parse as a number.
std::uint64_t available_in_group() {
  std::ifstream bound_file("/sys/fs/cgroup/memory.max"), used_file("/sys/fs/cgroup/memory.current");
  std::uint64_t bound = 0, used = 0;
  if (!(bound_file >> bound) || !(used_file >> used)) return kUnbounded;
  return bound > used ? bound - used : 0;
}

}  // namespace

std::uint64_t available_memory() {
  return std::min(available_in_system(), available_in_group());
}

}  // namespace tilejit::cli
