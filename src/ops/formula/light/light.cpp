#include "light/light.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;
using core::power_of_two_from;

constexpr int kMaxThreads = 1024;
constexpr int kFewThreads = 128;        // smallest block, if accumulators leave room
constexpr int kThreadsOfUnknown = 256;  // for rows of unknown length
constexpr int kGroupsAcross = 32;       // rows side by side, so that a warp's loads are neighbours
constexpr int kElementsOfThread = 16;   // beyond this, more threads cost less than more elements
constexpr int kChain = 128;
constexpr std::int64_t kMostOfRow = std::int64_t{1} << 22;  // takes some milliseconds
// A scan adds up the elements of each thread twice, in chains that verification bounds.
constexpr std::int64_t kMostOfScanThread = 120;

/// Bytes of a thread's accumulators in all passes together: an upper bound of sizeof(Passes).
std::int64_t bytes_of_thread(const Plan& plan) {
  const std::int64_t reductions = count_reductions(plan);
  const std::int64_t padding = 8 * (reductions + 1);
  return accumulator_bytes(plan) + accumulator_bytes(plan, expr::is_scan) + padding;
}

/// The most threads of a block whose accumulators fit in shared memory.
int most_threads(const Plan& plan) {
  int threads = kMaxThreads;
  while (threads > 1 && threads * bytes_of_thread(plan) > kMaxAccumulatorBytes) threads /= 2;
  return threads;
}

int wanted_threads(const Plan& plan) {
  const auto count = elements_in_row(plan, *rows_of(plan));
  if (!count) return kThreadsOfUnknown;
  return power_of_two_from(
      std::clamp<std::int64_t>(ceil_div(*count, kElementsOfThread), 1, kMaxThreads));
}

}  // namespace

bool suits_light(const Plan& full, const Rows& rows) {
  const auto count = elements_in_row(full, rows);
  return !count || *count <= kMostOfRow;
}

bool suits_light(const Plan& full, const Scan& scan) {
  const auto count = elements_in_row(full, scan);
  if (!count) return false;
  Plan light = full;
  light.family = Light{{.first = scan.first, .count = scan.count}, scan.direction};
  choose_light_launch(light);
  return ceil_div(*count, rows_of(light)->row_threads) <= kMostOfScanThread;
}

void choose_light_launch(Plan& plan) {
  auto& rows = std::get<Light>(plan.family);
  const int most = most_threads(plan);
  int groups = 1;
  if (!rows.along()) groups = std::min(kGroupsAcross, most);
  rows.row_threads = std::min(wanted_threads(plan), most / groups);
  if (rows.along()) groups = std::max(1, std::min(kFewThreads, most) / rows.row_threads);
  plan.threads = rows.row_threads * groups;
  plan.unroll = 1;
}

int light_chain(const Plan& plan) {
  if (direction_of(plan)) return 0;
  const Rows& rows = *rows_of(plan);
  const auto count = elements_in_row(plan, rows);
  return !count || *count > std::int64_t{kChain} * rows.row_threads ? kChain : 0;
}

}  // namespace tilejit::plan
