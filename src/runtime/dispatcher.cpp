#include "tilejit/dispatcher.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/tensor_kinds.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {
namespace {

using runtime::TensorKinds;

struct Entry {
  TensorKinds kinds;
  std::uint64_t hash;
  Kernel kernel;
};

/// Open addressing, half empty. Entries are added only, each by one store, so that readers need no
/// lock.
struct Table {
  explicit Table(std::size_t capacity) : slots(capacity) {}

  [[nodiscard]] const Entry* find(const TensorKinds& kinds, std::uint64_t hash) const noexcept {
    for (std::size_t i = hash & (slots.size() - 1);; i = (i + 1) & (slots.size() - 1)) {
      const Entry* entry = slots[i].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->hash == hash && entry->kinds == kinds) return entry;
    }
  }
  void add(const Entry& entry) noexcept {
    std::size_t i = entry.hash & (slots.size() - 1);
    while (slots[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & (slots.size() - 1);
    slots[i].store(&entry, std::memory_order_release);
  }

  std::vector<std::atomic<const Entry*>> slots;  // a power of two of them
};

}  // namespace

struct Dispatcher::Impl {
  Impl(Runtime& where, Fused operation, DispatchOptions options)
      : runtime(where), specializer(std::move(operation), options.known_extent) {
    tables.push_back(std::make_unique<Table>(16));
    table = tables.back().get();
  }

  const Kernel& find_or_compile(std::span<const Argument> args) {
    TensorKinds kinds;
    specializer.classify(args, kinds);
    const std::uint64_t hash = kinds.hash();
    const Entry* found = table.load(std::memory_order_acquire)->find(kinds, hash);
    return found != nullptr ? found->kernel : compile(kinds, hash);
  }

  /// The lock is not held while the kernel is compiled: others may be wanted meanwhile, and of one
  /// key the compiler makes one.
  const Kernel& compile(const TensorKinds& kinds, std::uint64_t hash) {
    Kernel kernel = runtime.compile(specializer.descriptor(kinds));
    const std::lock_guard lock(mutex);
    if (const Entry* other = table.load(std::memory_order_relaxed)->find(kinds, hash)) {
      return other->kernel;
    }
    entries.push_back(std::make_unique<const Entry>(Entry{kinds, hash, std::move(kernel)}));
    insert(*entries.back());
    count.store(entries.size(), std::memory_order_relaxed);
    return entries.back()->kernel;
  }

  void insert(const Entry& entry) {
    Table* now = table.load(std::memory_order_relaxed);
    if (2 * entries.size() <= now->slots.size()) return now->add(entry);
    // Readers may still be in the old table, which stays: all of them together are as large as the
    // last.
    auto larger = std::make_unique<Table>(2 * now->slots.size());
    for (const auto& each : entries) larger->add(*each);
    tables.push_back(std::move(larger));
    table.store(tables.back().get(), std::memory_order_release);
  }

  Runtime& runtime;
  const runtime::Specializer specializer;
  std::atomic<Table*> table = nullptr;
  std::atomic<std::size_t> count = 0;
  std::mutex mutex;  // guards what follows
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<std::unique_ptr<const Entry>> entries;
};

Dispatcher::Dispatcher(Runtime& runtime, Fused operation, DispatchOptions options)
    : impl_(std::make_unique<Impl>(runtime, std::move(operation), options)) {}
Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

void Dispatcher::launch(Stream stream, std::span<const Argument> args) {
  impl_->find_or_compile(args).launch(stream, args);
}

Kernel Dispatcher::kernel(std::span<const Argument> args) {
  return impl_->find_or_compile(args);
}

Fused Dispatcher::specialize(std::span<const Argument> args) const {
  TensorKinds kinds;
  impl_->specializer.classify(args, kinds);
  return impl_->specializer.descriptor(kinds);
}

std::size_t Dispatcher::size() const noexcept {
  return impl_->count.load(std::memory_order_relaxed);
}

}  // namespace tilejit
