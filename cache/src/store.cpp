#include "tilejit/cache/store.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "disk_tier.hpp"
#include "memory_tier.hpp"

namespace tilejit::cache {
namespace {

// One request that misses in memory, and whoever asks for the same key meanwhile.
struct Flight {
  std::condition_variable landed;
  bool done = false;
  EntryPtr entry;            // done: this, or
  std::exception_ptr error;  // this

  void land(EntryPtr made, std::exception_ptr thrown) {
    if (done) return;
    entry = std::move(made);
    error = std::move(thrown);
    done = true;
    landed.notify_all();
  }
};

bool is_hex(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

void check_key(const std::string& key) {
  if (key.size() == 64 && std::all_of(key.begin(), key.end(), is_hex)) return;
  throw std::invalid_argument("a cache key is 64 lower-case hex digits, not '" + key + "'");
}

bool is_marker_char(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_' || c == ':';
}

// A name must not lead out of its folder.
void check_marker(const std::string& name) {
  if (!name.empty() && name.size() <= 128 && name.front() != '.' &&
      std::all_of(name.begin(), name.end(), is_marker_char)) {
    return;
  }
  throw std::invalid_argument("'" + name + "' cannot name a cache marker or its kind");
}

void check_kind(const std::string& kind) {
  check_marker(kind);
  if (kind.size() == 2 && is_hex(kind[0]) && is_hex(kind[1])) {
    throw std::invalid_argument("'" + kind + "' cannot be a kind of marker: entries live there");
  }
}

}  // namespace

std::string_view to_string(Tier tier) noexcept {
  switch (tier) {
    case Tier::memory: return "memory";
    case Tier::disk: return "disk";
    case Tier::made: return "made";
  }
  return "unknown";
}

struct Store::Impl {
  explicit Impl(Options options);

  EntryPtr find_in_memory(const std::string& key);
  // Counts what was found, and keeps a hit in memory. A failure is for the caller to count.
  DiskTier::ReadResult read_disk(const std::string& key);
  bool publish(const std::string& key, const Entry& entry);
  Answer wait_for(Flight& flight, std::unique_lock<std::mutex>& lock);
  Answer lead(const std::string& key, Flight& flight, const std::function<Entry()>& make);
  Answer answer(const std::string& key, Flight& flight, const std::function<Entry()>& make);

  std::filesystem::path folder;
  std::optional<DiskTier> disk;

  std::mutex mutex;  // guards everything below and every Flight; never held over I/O or a make
  MemoryTier memory;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights;
  Counters counters;
};

Store::Impl::Impl(Options options) : memory(options.memory_bytes) {
  if (options.folder.empty()) return;
  // The process may change its working directory later.
  std::error_code error;
  folder = std::filesystem::absolute(options.folder, error);
  if (error) folder = options.folder;
  disk.emplace(folder.string(), std::move(options.warn));
}

EntryPtr Store::Impl::find_in_memory(const std::string& key) {
  const std::lock_guard lock(mutex);
  EntryPtr entry = memory.find(key);
  if (entry) ++counters.memory_hits;
  return entry;
}

DiskTier::ReadResult Store::Impl::read_disk(const std::string& key) {
  if (!disk) return {};
  DiskTier::ReadResult result = disk->read(key);
  const std::lock_guard lock(mutex);
  if (result.status == DiskTier::Status::damaged) ++counters.damaged;
  if (result.status == DiskTier::Status::hit) {
    ++counters.disk_hits;
    memory.insert(key, result.entry);
  }
  return result;
}

bool Store::Impl::publish(const std::string& key, const Entry& entry) {
  return !disk || disk->publish(key, entry);
}

Answer Store::Impl::wait_for(Flight& flight, std::unique_lock<std::mutex>& lock) {
  flight.landed.wait(lock, [&] { return flight.done; });
  if (flight.error) std::rethrow_exception(flight.error);
  ++counters.memory_hits;
  return {flight.entry, Tier::memory};
}

Answer Store::Impl::answer(const std::string& key, Flight& flight,
                           const std::function<Entry()>& make) {
  const DiskTier::ReadResult read = read_disk(key);
  if (read.entry) return {read.entry, Tier::disk};
  auto entry = std::make_shared<const Entry>(make());
  {
    // Waiters need not wait for the disk.
    const std::lock_guard lock(mutex);
    ++counters.made;
    memory.insert(key, entry);
    flight.land(entry, nullptr);
  }
  bool published = false;
  try {
    published = publish(key, *entry);
  } catch (const std::exception&) {  // the waiters have the entry, so trouble here is no error
  }
  if (!published || read.status == DiskTier::Status::failed) {
    const std::lock_guard lock(mutex);
    ++counters.failures;
  }
  return {std::move(entry), Tier::made};
}

// The flight stays listed until its entry is on the disk, so that nobody makes it again meanwhile,
// even where memory does not keep it.
Answer Store::Impl::lead(const std::string& key, Flight& flight,
                         const std::function<Entry()>& make) {
  try {
    Answer result = answer(key, flight, make);
    const std::lock_guard lock(mutex);
    flight.land(result.entry, nullptr);
    flights.erase(key);
    return result;
  } catch (...) {
    const std::lock_guard lock(mutex);
    flight.land(nullptr, std::current_exception());
    flights.erase(key);
    throw;
  }
}

Store::Store(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Store::~Store() = default;

std::optional<Answer> Store::find(const std::string& key) {
  check_key(key);
  if (EntryPtr entry = impl_->find_in_memory(key)) return Answer{std::move(entry), Tier::memory};
  DiskTier::ReadResult read = impl_->read_disk(key);
  if (read.entry) return Answer{std::move(read.entry), Tier::disk};
  if (read.status == DiskTier::Status::failed) {
    const std::lock_guard lock(impl_->mutex);
    ++impl_->counters.failures;
  }
  return std::nullopt;
}

Answer Store::find_or_make(const std::string& key, const std::function<Entry()>& make) {
  check_key(key);
  std::unique_lock lock(impl_->mutex);
  if (EntryPtr entry = impl_->memory.find(key)) {
    ++impl_->counters.memory_hits;
    return {std::move(entry), Tier::memory};
  }
  std::shared_ptr<Flight>& listed = impl_->flights[key];
  if (listed) {
    const std::shared_ptr<Flight> flight = listed;  // its leader takes it off the list
    return impl_->wait_for(*flight, lock);
  }
  listed = std::make_shared<Flight>();
  const std::shared_ptr<Flight> flight = listed;
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
  if (impl_->publish(key, *shared)) return;
  const std::lock_guard lock(impl_->mutex);
  ++impl_->counters.failures;
}

void Store::add_marker(const std::string& kind, const std::string& name) {
  check_kind(kind);
  check_marker(name);
  if (!impl_->disk || impl_->disk->add_marker(kind, name)) return;
  const std::lock_guard lock(impl_->mutex);
  ++impl_->counters.failures;
}

std::vector<std::string> Store::markers(const std::string& kind) const {
  check_kind(kind);
  return impl_->disk ? impl_->disk->markers(kind) : std::vector<std::string>();
}

Counters Store::counters() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counters;
}

std::filesystem::path Store::path_of(const std::string& key) const {
  check_key(key);
  return impl_->disk ? std::filesystem::path(impl_->disk->path_of(key)) : std::filesystem::path();
}

const std::filesystem::path& Store::folder() const noexcept {
  return impl_->folder;
}

}  // namespace tilejit::cache
