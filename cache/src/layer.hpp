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
  damaged,    ///< was there but did not verify
  misplaced,  ///< is intact but belongs to another key; counts as damaged
  failed,     ///< the layer could not be asked
};

struct ReadResult {
  Status status = Status::miss;
  EntryPtr entry = nullptr;  ///< Status::hit only; verified
  bool slow = false;         ///< a hit so slow that a closer copy pays off
};

/// Counts a read of a tier. The caller counts failed reads, once per request.
void count(TierCounters& counters, Status status, std::uint64_t nanoseconds);

/// True if an entry found under `key` belongs to it.
[[nodiscard]] inline bool is_of(const Identity& identity, std::string_view key,
                                std::string_view metadata) {
  return !identity || identity(key, metadata);
}

/// A source of entries below memory. Thread-safe. Reports trouble by the status and warns of it
/// once; never throws for it.
class Layer {
 public:
  virtual ~Layer() = default;

  [[nodiscard]] virtual ReadResult read(const std::string& key) = 0;
  /// True if there is an entry whose file is complete by its trailer.
  [[nodiscard]] virtual bool has(const std::string& key) { return read(key).status == Status::hit; }
  /// Newest first.
  [[nodiscard]] virtual std::vector<std::string> markers(const std::string& kind) = 0;
};

}  // namespace tilejit::cache
