#include "tilejit/cache/store.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include "flights.hpp"
#include "folder_tier.hpp"
#include "janitor.hpp"
#include "key_lock.hpp"
#include "layer.hpp"
#include "memory_tier.hpp"
#include "names.hpp"
#include "path_tier.hpp"
#include "remote_tier.hpp"

namespace tilejit::cache {
namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t nanoseconds_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

// Makes the path absolute, since the process may change its working directory later.
std::filesystem::path fixed(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path result = std::filesystem::absolute(path, error);
  return error ? path : result;
}

std::unique_ptr<FolderTier> open_folder(const std::filesystem::path& path, const Options& options) {
  if (path.empty()) return nullptr;
  return std::make_unique<FolderTier>(Tree(path.string(), options.trust),
                                      FolderTier::Access::read_write, options.warn,
                                      options.identity);
}

std::unique_ptr<RemoteTier> open_remote(const Options& options) {
  if (options.remote.url.empty()) return nullptr;
  RemoteOptions settings = options.remote;
  settings.warn = options.warn;
  return std::make_unique<RemoteTier>(std::move(settings), options.identity);
}

}  // namespace

struct Store::Impl {
  explicit Impl(Options options);

  struct Found {
    EntryPtr entry;  // null: no tier has it
    Tier tier = Tier::made;
    bool slow = false;  // a copy on disk pays off
    bool disk_failed = false;
  };

  EntryPtr find_in_memory(const std::string& key);
  // Searches the layers below memory. Keeps a hit in memory, and a slow one also on disk.
  Found search(const std::string& key);
  Status read(Layer& layer, Tier tier, const std::string& key, Found& found);
  // Gets the entry from the remote and publishes it on disk.
  EntryPtr fetch(const std::string& key, const std::function<void()>& visible);
  // Looks for an entry that another process has published while we waited for the lock.
  EntryPtr look_again(const std::string& key);
  bool publish(const std::string& key, const Entry& entry,
               const std::function<void()>& visible = {});
  void count_disk_failure();
  Answer wait_for(Flight& flight, std::unique_lock<std::mutex>& lock);
  Answer lead(const std::string& key, Flight& flight, const std::function<Entry()>& make);
  Answer answer(const std::string& key, Flight& flight, const std::function<Entry()>& make);
  KeyLock lock_key(const std::string& key);
  void warn_of_waiting(const std::string& key) const;
  Answer make_and_publish(const std::string& key, Flight& flight,
                          const std::function<Entry()>& make, const std::function<void()>& visible,
                          bool disk_failed);
  TierCounters& counters_of(Tier tier);

  const Options options;
  const std::filesystem::path folder;
  const std::unique_ptr<FolderTier> disk;  // null: none
  std::vector<std::unique_ptr<Layer>> read_only;
  std::unique_ptr<Janitor> janitor;    // of `disk`
  std::unique_ptr<RemoteTier> remote;  // null: none

  std::mutex mutex;  // guards everything below and every Flight; not held during I/O or `make`
  MemoryTier memory;
  Flights flights;
  Counters counters;
};

Store::Impl::Impl(Options settings)
    : options(std::move(settings)),
      folder(options.folder.empty() ? options.folder : fixed(options.folder)),
      disk(open_folder(folder, options)),
      memory(options.memory_bytes) {
  if (disk) janitor = std::make_unique<Janitor>(disk->tree(), options.bounds);
  remote = open_remote(options);
  for (const std::filesystem::path& path : options.read_only) {
    read_only.push_back(std::make_unique<PathTier>(fixed(path).string(),
                                                   PathTier::Rules{.trust = options.trust,
                                                                   .signer = options.bundle_signer,
                                                                   .identity = options.identity,
                                                                   .slow_after = options.copy_after,
                                                                   .warn = options.warn}));
  }
}

TierCounters& Store::Impl::counters_of(Tier tier) {
  if (tier == Tier::remote) return counters.remote;
  return tier == Tier::disk ? counters.disk : counters.read_only;
}

EntryPtr Store::Impl::find_in_memory(const std::string& key) {
  const std::lock_guard lock(mutex);
  EntryPtr entry = memory.find(key);
  ++(entry ? counters.memory.hits : counters.memory.misses);
  return entry;
}

Status Store::Impl::read(Layer& layer, Tier tier, const std::string& key, Found& found) {
  const auto start = Clock::now();
  ReadResult result = layer.read(key);
  const std::uint64_t spent = nanoseconds_since(start);
  const std::lock_guard lock(mutex);
  count(counters_of(tier), result.status, spent);
  if (result.entry) {
    memory.insert(key, result.entry);
    found.entry = std::move(result.entry);
    found.tier = tier;
    found.slow = result.slow;
  }
  return result.status;
}

Store::Impl::Found Store::Impl::search(const std::string& key) {
  Found found;
  if (disk) found.disk_failed = read(*disk, Tier::disk, key, found) == Status::failed;
  for (const auto& layer : read_only) {
    if (found.entry) break;
    if (read(*layer, Tier::read_only, key, found) != Status::failed) continue;
    const std::lock_guard lock(mutex);
    ++counters.read_only.failures;
  }
  if (found.slow && disk && !found.disk_failed && !publish(key, *found.entry)) count_disk_failure();
  return found;
}

EntryPtr Store::Impl::fetch(const std::string& key, const std::function<void()>& visible) {
  if (!remote) return nullptr;
  Found found;
  const bool failed = read(*remote, Tier::remote, key, found) == Status::failed;
  if (failed) {
    const std::lock_guard lock(mutex);
    ++counters.remote.failures;
  }
  if (found.entry && !publish(key, *found.entry, visible)) count_disk_failure();
  return std::move(found.entry);
}

EntryPtr Store::Impl::look_again(const std::string& key) {
  ReadResult result = disk->read(key);
  if (!result.entry) return nullptr;
  const std::lock_guard lock(mutex);
  ++counters.disk.hits;
  memory.insert(key, result.entry);
  return std::move(result.entry);
}

bool Store::Impl::publish(const std::string& key, const Entry& entry,
                          const std::function<void()>& visible) {
  if (!disk) return true;
  const auto start = Clock::now();
  const bool published = disk->publish(key, entry, visible);
  if (published) janitor->published(entry.payload.size() + entry.metadata.size());
  const std::uint64_t spent = nanoseconds_since(start);
  const std::lock_guard lock(mutex);
  counters.disk.nanoseconds += spent;
  return published;
}

void Store::Impl::count_disk_failure() {
  const std::lock_guard lock(mutex);
  ++counters.disk.failures;
}

Answer Store::Impl::wait_for(Flight& flight, std::unique_lock<std::mutex>& lock) {
  if (flight.done && flight.error) ++counters.recalled_failures;
  flight.landed.wait(lock, [&] { return flight.done; });
  if (flight.error) std::rethrow_exception(flight.error);
  ++counters.memory.hits;
  return {flight.entry, Tier::memory};
}

KeyLock Store::Impl::lock_key(const std::string& key) {
  using Outcome = KeyLock::Outcome;
  KeyLock key_lock(disk->tree(), key, options.lock_wait);
  const Outcome outcome = key_lock.outcome();
  const bool timed_out = outcome == Outcome::timed_out;
  bool first = false;
  {
    const std::lock_guard lock(mutex);
    if (timed_out || outcome == Outcome::held_after_waiting) ++counters.lock_waits;
    first = timed_out && counters.lock_timeouts++ == 0;
    if (outcome == Outcome::unavailable) ++counters.lock_failures;
  }
  if (first) warn_of_waiting(key);
  return key_lock;
}

void Store::Impl::warn_of_waiting(const std::string& key) const {
  if (!options.warn) return;
  options.warn("another process has been making the cache entry " + disk->path_of(key) + " for " +
               std::to_string(options.lock_wait.count()) +
               " ms, or is stopped; it is made here too, and whoever holds the lock of " +
               folder.string() + "/v1/lock/keys should be looked at");
}

Answer Store::Impl::answer(const std::string& key, Flight& flight,
                           const std::function<Entry()>& make) {
  const Found found = search(key);
  if (found.entry) return {found.entry, found.tier};

  std::optional<KeyLock> key_lock;
  if (disk) key_lock.emplace(lock_key(key));
  if (key_lock && key_lock->outcome() != KeyLock::Outcome::unavailable) {
    if (EntryPtr published = look_again(key)) return {std::move(published), Tier::disk};
  }
  const auto release = [&key_lock] {
    if (key_lock) key_lock->release();
  };
  if (EntryPtr fetched = fetch(key, release)) return {std::move(fetched), Tier::remote};
  if (remote && remote->must_hit()) {
    throw MissingEntry("the remote cache " + remote->name() +
                       " must have every kernel, and has not " + key +
                       "; warm it, or choose another mode of the remote");
  }
  return make_and_publish(key, flight, make, release, found.disk_failed);
}

Answer Store::Impl::make_and_publish(const std::string& key, Flight& flight,
                                     const std::function<Entry()>& make,
                                     const std::function<void()>& visible, bool disk_failed) {
  auto entry = std::make_shared<const Entry>(make());
  {
    // Wakes waiters before the disk is written.
    const std::lock_guard lock(mutex);
    ++counters.made;
    memory.insert(key, entry);
    flight.land(entry);
  }
  bool published = false;
  try {
    published = publish(key, *entry, visible);
    if (remote) remote->publish(key, *entry);
  } catch (const std::exception&) {  // waiters have the entry already, so trouble here is no error
  }
  if (!published || disk_failed) count_disk_failure();
  return {std::move(entry), Tier::made};
}

// The flight stays listed until its entry is on the disk, so that nobody makes it again meanwhile,
// even if memory does not keep it. A failed flight stays until its failure expires.
Answer Store::Impl::lead(const std::string& key, Flight& flight,
                         const std::function<Entry()>& make) {
  try {
    Answer result = answer(key, flight, make);
    const std::lock_guard lock(mutex);
    flight.land(result.entry);
    flights.erase(key);
    return result;
  } catch (...) {
    const std::lock_guard lock(mutex);
    ++counters.make_failures;
    flight.fail(std::current_exception(), options.failure_ttl);
    throw;
  }
}

Store::Store(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Store::~Store() = default;

std::optional<Answer> Store::find(const std::string& key) {
  check_key(key);
  if (EntryPtr entry = impl_->find_in_memory(key)) return Answer{std::move(entry), Tier::memory};
  Impl::Found found = impl_->search(key);
  if (found.entry) return Answer{std::move(found.entry), found.tier};
  if (found.disk_failed) impl_->count_disk_failure();
  if (EntryPtr fetched = impl_->fetch(key, {})) return Answer{std::move(fetched), Tier::remote};
  return std::nullopt;
}

std::optional<Tier> Store::locate(const std::string& key) {
  check_key(key);
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->memory.find(key)) return Tier::memory;
  }
  if (impl_->disk && impl_->disk->has(key)) return Tier::disk;
  for (const auto& layer : impl_->read_only) {
    if (layer->has(key)) return Tier::read_only;
  }
  return std::nullopt;
}

Answer Store::find_or_make(const std::string& key, const std::function<Entry()>& make) {
  check_key(key);
  std::unique_lock lock(impl_->mutex);
  if (EntryPtr entry = impl_->memory.find(key)) {
    ++impl_->counters.memory.hits;
    return {std::move(entry), Tier::memory};
  }
  bool leads = false;
  const std::shared_ptr<Flight> flight = impl_->flights.join(key, leads);
  if (!leads) return impl_->wait_for(*flight, lock);
  ++impl_->counters.memory.misses;
  lock.unlock();
  return impl_->lead(key, *flight, make);
}

void Store::put(const std::string& key, Entry entry) {
  check_key(key);
  const auto shared = std::make_shared<const Entry>(std::move(entry));
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->memory.insert(key, shared);
  }
  if (!impl_->publish(key, *shared)) impl_->count_disk_failure();
  if (impl_->remote) impl_->remote->publish(key, *shared);
}

void Store::keep(const std::string& key, const std::string& suffix, const std::string& text) {
  check_key(key);
  check_suffix(suffix);
  if (impl_->disk && !impl_->disk->keep(key, suffix, text)) impl_->count_disk_failure();
}

void Store::add_marker(const std::string& kind, const std::string& name) {
  check_kind(kind);
  check_marker(name);
  if (impl_->disk && !impl_->disk->add_marker(kind, name)) impl_->count_disk_failure();
}

std::vector<std::string> Store::markers(const std::string& kind) const {
  check_kind(kind);
  std::vector<std::string> names;
  const auto append = [&](Layer& layer) {
    for (std::string& name : layer.markers(kind)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
      }
    }
  };
  if (impl_->disk) append(*impl_->disk);
  for (const auto& layer : impl_->read_only) append(*layer);
  return names;
}

Counters Store::counters() const {
  const std::lock_guard lock(impl_->mutex);
  Counters counters = impl_->counters;
  if (impl_->janitor) {
    const Janitor::Counts swept = impl_->janitor->counts();
    counters.sweeps = swept.sweeps;
    counters.evicted = swept.evicted;
    counters.evicted_bytes = swept.evicted_bytes;
  }
  if (impl_->remote) {
    const RemoteCounters remote = impl_->remote->counters();
    counters.uploads = remote.uploads;
    counters.uploads_failed = remote.uploads_failed;
    counters.uploads_dropped = remote.uploads_dropped;
  }
  return counters;
}

std::filesystem::path Store::path_of(const std::string& key) const {
  check_key(key);
  return impl_->disk ? std::filesystem::path(impl_->disk->path_of(key)) : std::filesystem::path();
}

const std::filesystem::path& Store::folder() const noexcept {
  return impl_->folder;
}

}  // namespace tilejit::cache
