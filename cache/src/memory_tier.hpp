#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

/// Entries in memory. The least recently used ones are dropped first. Not thread-safe: the Store
/// locks.
class MemoryTier {
 public:
  /// Keeps at most `capacity` bytes of payload, metadata and bookkeeping.
  explicit MemoryTier(std::size_t capacity) : capacity_(capacity) {}

  /// The entry, which becomes the most recently used; nullptr if there is none.
  [[nodiscard]] EntryPtr find(std::string_view key);
  /// Adds or replaces an entry. Does not keep one larger than the capacity.
  void insert(const std::string& key, EntryPtr entry);

 private:
  struct Slot {
    std::string key;
    EntryPtr entry;
  };
  using Slots = std::list<Slot>;

  [[nodiscard]] static std::size_t cost(const Slot& slot) noexcept;
  void erase(Slots::iterator slot);

  std::size_t capacity_;
  std::size_t used_ = 0;
  Slots slots_;                                                  // most recently used first
  std::unordered_map<std::string_view, Slots::iterator> index_;  // keys are views into slots_
};

}  // namespace tilejit::cache
