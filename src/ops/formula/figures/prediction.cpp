// The time of a kernel, by what it asks of a device.
#include "figures/prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "device/occupancy.hpp"

namespace tilejit::figures {
namespace {

// Fitted on one H200 to 506 cases of bench/sweep.py (bench/NOTES.md), and taken for all devices.
// In microseconds:
constexpr double kLaunch = 0.95;         // a kernel of one block, in a graph
constexpr double kFollowing = 0.62;      // the same of a later kernel of one launch
constexpr double kSecond = 2.5;          // a second kernel that combines results
constexpr double kLatency = 0.62;        // of memory, under load
constexpr double kCachedLatency = 0.15;  // of the L2 cache, beside other warps' work
constexpr double kShuffle = 0.055;       // a step in which lanes combine
constexpr double kClusterExchange = 0.6;
constexpr double kBlockStart = 0.12;  // a block, on one multiprocessor
// Instructions beside those of the formula:
constexpr double kOfAccess = 12;  // addresses and conditions
constexpr double kOfShiftedWord = 10.5;
// Per clock and multiprocessor:
constexpr double kIssued = 4;  // warps' instructions
constexpr double kSpecial = 11.3;
constexpr double kSectors = 2.5;
constexpr double kOfLoneThread = 0.19;  // instructions of a thread that waits for each of them

constexpr double kCachedTerabytes = 3;       // a second, from the L2 cache
constexpr double kOverlap = 3.3;             // exponent: the larger, the more times overlap
constexpr double kCachedBytes = 1e6;         // a launch that moves less finds them in the L2 cache
constexpr double kCacheForRows = 30e6;       // bytes of rows that stay there for a later pass
constexpr double kFewWaves = 4, kWarp = 32;  // with more waves, blocks no longer end together

}  // namespace

double Times::together() const noexcept {
  double sum = 0;
  for (const double us : {memory, issue, special, requests, latency, starts})
    sum += std::pow(us, kOverlap);
  return std::pow(sum, 1 / kOverlap);
}

std::string_view Times::limit() const noexcept {
  const std::array<std::pair<double, std::string_view>, 7> all = {{{memory, "memory"},
                                                                   {issue, "arithmetic"},
                                                                   {special, "special functions"},
                                                                   {requests, "requests"},
                                                                   {latency, "latency"},
                                                                   {starts, "blocks"},
                                                                   {kLaunch, "launch"}}};
  return std::ranges::max_element(all, {}, [](const auto& one) { return one.first; })->second;
}

Times times_of(const Demand& demand, const device::Device& device, bool cached) {
  const double clocks = device.gigahertz * 1e3, multiprocessors = device.multiprocessors;
  const auto resident = static_cast<double>(
      std::max(1, device::occupancy_of(device, {.threads = demand.threads,
                                                .registers = demand.registers,
                                                .shared_bytes = demand.shared_bytes})
                      .blocks));
  const double at_once = multiprocessors * resident;
  const double part = demand.blocks / at_once;
  const double waves = std::max(1.0, part < kFewWaves ? std::ceil(part) : part);
  const double busy = std::min(multiprocessors, demand.blocks);  // multiprocessors
  const double instructions =
      demand.instructions + kOfAccess * demand.accesses + kOfShiftedWord * demand.shifted_words;
  const double bandwidth = device.copied * 1e3, cache = kCachedTerabytes * 1e6;  // bytes a us
  const double rows_at_once = demand.bytes / demand.blocks * std::min(demand.blocks, at_once);
  const double latency = cached ? kCachedLatency : kLatency;
  const double later = cached ? kCachedLatency : (kCachedLatency + kLatency) / 2;
  Times times;
  times.memory = demand.bytes / (cached ? cache : bandwidth) +
                 demand.again / (cached || rows_at_once < kCacheForRows ? cache : bandwidth);
  times.issue = instructions / kWarp / (busy * kIssued * clocks);
  times.special = demand.special / (busy * kSpecial * clocks);
  times.requests = demand.sectors / (busy * kSectors * clocks);
  times.latency =
      waves * (latency * demand.trips + later * demand.cached_trips + kShuffle * demand.shuffles +
               kClusterExchange * demand.clusters +
               instructions / (demand.blocks * demand.threads) / (kOfLoneThread * clocks));
  times.starts = demand.blocks * kBlockStart / multiprocessors;
  return times;
}

Prediction predict_launch(const Demand& demand, const device::Device& device,
                          std::int64_t bytes_moved) {
  const bool cached = static_cast<double>(bytes_moved) < kCachedBytes;
  const Times times = times_of(demand, device, cached);
  return {
      .us = kLaunch + (cached ? 0 : kLatency) + (demand.splits ? kSecond : 0) + times.together(),
      .limit = times.limit()};
}

double saved_by_following() noexcept {
  return kLaunch - kFollowing;
}

}  // namespace tilejit::figures
