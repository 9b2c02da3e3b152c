#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilejit::cache {

/// The tier that gave an answer.
enum class Tier : std::uint8_t { memory, disk, read_only, remote, made };
/// "memory", "disk", "read-only", "remote", "made"
[[nodiscard]] std::string_view to_string(Tier tier) noexcept;

/// Counters of one tier since construction.
struct TierCounters {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t damaged = 0;      ///< entries found broken; never served
  std::uint64_t failures = 0;     ///< requests that continued without this tier
  std::uint64_t nanoseconds = 0;  ///< 0 for memory, where a clock would cost as much
  bool operator==(const TierCounters&) const = default;
};

/// Counters of a Store since construction.
struct Counters {
  TierCounters memory;        ///< hits include requests that shared another caller's `make`
  TierCounters disk;          ///< nanoseconds: time of reading and publishing
  TierCounters read_only;     ///< sum over all read-only folders and bundles
  TierCounters remote;        ///< damaged downloads are included in its failures
  std::uint64_t uploads = 0;  ///< entries that the remote accepted
  std::uint64_t uploads_failed = 0;
  std::uint64_t uploads_dropped = 0;    ///< not tried: too many waited, or the remote was down
  std::uint64_t made = 0;               ///< calls of `make` that returned
  std::uint64_t make_failures = 0;      ///< calls of `make` that threw
  std::uint64_t recalled_failures = 0;  ///< requests answered with the error of a recent failure
  std::uint64_t lock_waits = 0;         ///< misses that waited for another process's `make`
  std::uint64_t lock_timeouts = 0;      ///< those of lock_waits that gave up and made the entry
  std::uint64_t lock_failures = 0;      ///< misses without a lock because the folder provides none
  std::uint64_t sweeps = 0;             ///< passes that enforced the folder's bounds
  std::uint64_t evicted = 0;            ///< entries that sweeps removed
  std::uint64_t evicted_bytes = 0;      ///< bytes that sweeps removed, leftovers included
  bool operator==(const Counters&) const = default;
};

/// The counters in Prometheus' text format. Names start with `tilejit_cache_`.
[[nodiscard]] std::string prometheus_text(const Counters& counters);

}  // namespace tilejit::cache
