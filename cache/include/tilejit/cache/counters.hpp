#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilejit::cache {

/// Where an answer came from.
enum class Tier : std::uint8_t { memory, disk, read_only, remote, made };
/// "memory", "disk", "read-only", "remote", "made"
[[nodiscard]] std::string_view to_string(Tier tier) noexcept;

/// What one tier did since construction.
struct TierCounters {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t damaged = 0;      ///< entries found broken; never served
  std::uint64_t failures = 0;     ///< requests that went on without this tier
  std::uint64_t nanoseconds = 0;  ///< spent in it; 0 for memory, where a clock would cost as much
  bool operator==(const TierCounters&) const = default;
};

/// What a Store did since construction.
struct Counters {
  TierCounters memory;        ///< hits: those that shared another caller's `make` included
  TierCounters disk;          ///< nanoseconds: of reading and publishing
  TierCounters read_only;     ///< all folders and bundles of that kind together
  TierCounters remote;        ///< damaged ones are among its failures
  std::uint64_t uploads = 0;  ///< entries that the remote has taken
  std::uint64_t uploads_failed = 0;
  std::uint64_t uploads_dropped = 0;    ///< not tried: too many waited, or the remote was down
  std::uint64_t made = 0;               ///< calls of `make` that returned
  std::uint64_t make_failures = 0;      ///< calls of `make` that threw
  std::uint64_t recalled_failures = 0;  ///< requests answered with a failure of a moment ago
  std::uint64_t lock_waits = 0;         ///< misses that waited for another process' `make`
  std::uint64_t lock_timeouts = 0;      ///< of those: gave up waiting, and made the entry
  std::uint64_t lock_failures = 0;      ///< misses without a lock, as the folder has none to give
  std::uint64_t sweeps = 0;             ///< passes that kept the folder's bounds
  std::uint64_t evicted = 0;            ///< entries that they removed
  std::uint64_t evicted_bytes = 0;      ///< bytes that they removed, leftovers included
  bool operator==(const Counters&) const = default;
};

/// The counters as Prometheus' text format, names starting with `tilejit_cache_`.
[[nodiscard]] std::string prometheus_text(const Counters& counters);

}  // namespace tilejit::cache
