#include "memory_tier.hpp"

#include <iterator>
#include <utility>

namespace tilejit::cache {

EntryPtr MemoryTier::find(std::string_view key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  slots_.splice(slots_.begin(), slots_, found->second);
  return found->second->entry;
}

void MemoryTier::insert(const std::string& key, EntryPtr entry) {
  if (const auto found = index_.find(key); found != index_.end()) erase(found->second);
  Slots fresh;
  fresh.push_back({key, std::move(entry)});
  const std::size_t bytes = cost(fresh.front());
  if (bytes > capacity_) return;
  while (used_ > capacity_ - bytes) erase(std::prev(slots_.end()));
  index_.emplace(fresh.front().key, fresh.begin());
  slots_.splice(slots_.begin(), fresh);
  used_ += bytes;
}

std::size_t MemoryTier::cost(const Slot& slot) noexcept {
  return slot.entry->payload.size() + slot.entry->metadata.size() + slot.key.size() + sizeof(Slot) +
         sizeof(Entry);
}

void MemoryTier::erase(Slots::iterator slot) {
  used_ -= cost(*slot);
  index_.erase(slot->key);
  slots_.erase(slot);
}

}  // namespace tilejit::cache
