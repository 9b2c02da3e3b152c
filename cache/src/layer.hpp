#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/cache/counters.hpp"
#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

enum class Status : std::uint8_t {
  hit,
  miss,
  damaged,    ///< was there and did not verify
  misplaced,  ///< is whole, and another key's; counts as damaged
  failed,     ///< the layer could not be asked
};

struct ReadResult {
  Status status = Status::miss;
  EntryPtr entry = nullptr;  ///< Status::hit only; verified
  bool slow = false;         ///< a hit that took so long that a copy nearer by pays
};

/// Counts a read of a tier; one that failed is for the caller to count, once a request.
void count(TierCounters& counters, Status status, std::uint64_t nanoseconds);

/// Whether an entry that was found under `key` belongs there.
[[nodiscard]] inline bool is_of(const Identity& identity, std::string_view key,
                                std::string_view metadata) {
  return !identity || identity(key, metadata);
}

/// Somewhere below memory that may have an entry. Thread-safe. Trouble is reported by the status
/// and warned of once; nothing is thrown for it.
class Layer {
 public:
  virtual ~Layer() = default;

  [[nodiscard]] virtual ReadResult read(const std::string& key) = 0;
  /// Whether there is an entry whose file is whole as far as its trailer tells.
  [[nodiscard]] virtual bool has(const std::string& key) { return read(key).status == Status::hit; }
  /// Newest first.
  [[nodiscard]] virtual std::vector<std::string> markers(const std::string& kind) = 0;
};

}  // namespace tilejit::cache
