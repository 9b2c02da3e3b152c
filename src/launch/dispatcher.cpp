#include "tilejit/dispatcher.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "launch/bind_program.hpp"
#include "launch/internals.hpp"
#include "launch/tensor_kinds.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {
namespace {

using launch::BindProgram;
using launch::TensorKinds;
using launch::TensorSizes;

/// The members that a launch reads lie in a few adjacent cache lines: the driver's code fills the
/// caches between two launches.
struct Entry {
  std::uint64_t hash;
  const Kernel::Impl* impl;   // the implementation of the kernel
  const Kernel::Impl* build;  // the build that was current
  BindProgram program;        // for that build; may bind nothing
  TensorKinds kinds;
  Kernel kernel;
};

/// Open addressing, at most half full. Entries are only added or replaced, each by one store, so
/// that readers need no lock.
struct Table {
  explicit Table(std::size_t capacity) : slots(capacity) {}

  [[nodiscard]] const Entry* find(const TensorKinds& kinds, std::uint64_t hash) const noexcept {
    for (std::size_t i = hash & (slots.size() - 1);; i = (i + 1) & (slots.size() - 1)) {
      const Entry* entry = slots[i].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->hash == hash && entry->kinds == kinds) return entry;
    }
  }
  void add(const Entry& entry) noexcept { put(nullptr, entry); }
  /// `old` is an entry of the table, or null for a free slot.
  void put(const Entry* old, const Entry& entry) noexcept {
    std::size_t i = entry.hash & (slots.size() - 1);
    while (slots[i].load(std::memory_order_relaxed) != old) i = (i + 1) & (slots.size() - 1);
    slots[i].store(&entry, std::memory_order_release);
  }

  std::vector<std::atomic<const Entry*>> slots;  // their number is a power of two
};

}  // namespace

struct Dispatcher::Impl {
  Impl(Runtime& where, Operation operation, DispatchOptions options)
      : specializer(std::move(operation), options.known_extent), runtime(where) {
    tables.push_back(std::make_unique<Table>(16));
    table = tables.back().get();
  }

  void launch(Stream stream, std::span<const Argument> args) {
    TensorKinds kinds;
    TensorSizes sizes;
    const Entry* entry = &find_or_compile(args, kinds, sizes);
    if (&entry->impl->current() != entry->build) [[unlikely]]
      entry = &renew(*entry, args);
    alignas(16) std::array<std::byte, BindProgram::kMaxParamBytes> params;  // as far as used
    if (const std::uint32_t blocks = entry->program.bind(args, sizes, params)) [[likely]]
      return entry->build->launch_resident(stream, {.blocks = blocks}, params.data());
    entry->kernel.launch(stream, args);
  }

  const Entry& find_or_compile(std::span<const Argument> args, TensorKinds& kinds,
                               TensorSizes& sizes) {
    specializer.classify(args, kinds, sizes);
    const std::uint64_t hash = kinds.hash();
    const Entry* found = table.load(std::memory_order_acquire)->find(kinds, hash);
    return found != nullptr ? *found : compile(args, kinds, hash);
  }

  /// Does not hold the lock while the kernel is compiled, since other kernels may be requested
  /// meanwhile. The compiler makes only one kernel per key.
  [[gnu::noinline]] const Entry& compile(std::span<const Argument> args, const TensorKinds& kinds,
                                         std::uint64_t hash) {
    std::unique_ptr<const Entry> made =
        make_entry(runtime.compile(specializer.descriptor(kinds)), args, kinds, hash);
    const std::lock_guard lock(mutex);
    if (const Entry* other = table.load(std::memory_order_relaxed)->find(kinds, hash)) {
      return *other;
    }
    entries.push_back(std::move(made));
    insert(*entries.back());
    count.store(entries.size(), std::memory_order_relaxed);
    return *entries.back();
  }

  static std::unique_ptr<const Entry> make_entry(Kernel kernel, std::span<const Argument> args,
                                                 const TensorKinds& kinds, std::uint64_t hash) {
    const Kernel::Impl& impl = *launch::Internals::of(kernel);
    const Kernel::Impl& build = impl.current();
    const auto most_blocks = build.library->context->limits().grid_x;
    const std::optional<BindProgram> program =
        kernel.is_fallback() ? std::nullopt : BindProgram::of_kind(build.binder, args, most_blocks);
    return std::make_unique<const Entry>(
        Entry{hash, &impl, &build, program.value_or(BindProgram()), kinds, std::move(kernel)});
  }

  /// Replaces the entry `old`, whose quick build has been replaced by a full one.
  [[gnu::noinline]] const Entry& renew(const Entry& old, std::span<const Argument> args) {
    const std::lock_guard lock(mutex);
    const auto same = [&](const auto& entry) { return entry.get() == &old; };
    const auto place = std::ranges::find_if(entries, same);
    Table& now = *table.load(std::memory_order_relaxed);
    if (place == entries.end())
      return *now.find(old.kinds, old.hash);  // another thread has already replaced it
    std::unique_ptr<const Entry> made = make_entry(old.kernel, args, old.kinds, old.hash);
    now.put(&old, *made);
    replaced.push_back(std::exchange(*place, std::move(made)));
    return **place;
  }

  void insert(const Entry& entry) {
    Table* now = table.load(std::memory_order_relaxed);
    if (2 * entries.size() <= now->slots.size()) return now->add(entry);
    // Readers may still use the old table, so it stays. All old tables together are as large as the
    // new one.
    auto larger = std::make_unique<Table>(2 * now->slots.size());
    for (const auto& each : entries) larger->add(*each);
    tables.push_back(std::move(larger));
    table.store(tables.back().get(), std::memory_order_release);
  }

  std::atomic<Table*> table = nullptr;
  const launch::Specializer specializer;
  Runtime& runtime;
  std::atomic<std::size_t> count = 0;
  std::mutex mutex;  // guards what follows
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<std::unique_ptr<const Entry>> entries;
  std::vector<std::unique_ptr<const Entry>> replaced;  // entries that readers may still use
};

Dispatcher::Dispatcher(Runtime& runtime, Operation operation, DispatchOptions options)
    : impl_(std::make_unique<Impl>(runtime, std::move(operation), options)) {}
Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

void Dispatcher::launch(Stream stream, std::span<const Argument> args) {
  impl_->launch(stream, args);
}

Kernel Dispatcher::kernel(std::span<const Argument> args) {
  TensorKinds kinds;
  TensorSizes sizes;
  return impl_->find_or_compile(args, kinds, sizes).kernel;
}

Operation Dispatcher::specialize(std::span<const Argument> args) const {
  TensorKinds kinds;
  TensorSizes sizes;
  impl_->specializer.classify(args, kinds, sizes);
  return impl_->specializer.descriptor(kinds);
}

std::size_t Dispatcher::size() const noexcept {
  return impl_->count.load(std::memory_order_relaxed);
}

}  // namespace tilejit
