#include "tilejit/cache/folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "evict.hpp"
#include "folder_tier.hpp"
#include "names.hpp"
#include "scan.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;

std::chrono::system_clock::time_point time_of(const struct timespec& time) {
  using namespace std::chrono;
  return system_clock::time_point(
      duration_cast<system_clock::duration>(seconds(time.tv_sec) + nanoseconds(time.tv_nsec)));
}

void remove_markers(const Tree& tree, const std::string& kind) {
  int error = 0;
  const OpenedFolder folder = list_folder(tree, kind, error);
  if (!folder) return;
  while (const dirent* item = ::readdir(folder.get())) {
    if (item->d_name[0] != '.') ::unlinkat(::dirfd(folder.get()), item->d_name, 0);
  }
}

}  // namespace

struct Folder::Impl {
  Impl(const fs::path& folder, Trust trust, Identity identity)
      : tier(Tree(fs::absolute(folder).string(), trust), FolderTier::Access::read_only, nullptr,
             std::move(identity)) {}

  void check(int error) const {
    if (error == 0) return;
    throw std::runtime_error("the cache folder " + tree().folder() +
                             " cannot be used: " + describe(error));
  }
  [[nodiscard]] const Tree& tree() const { return tier.tree(); }

  FolderTier tier;
};

Folder::Folder(const fs::path& folder, Trust trust, Identity identity)
    : impl_(std::make_unique<Impl>(folder, trust, std::move(identity))) {}
Folder::~Folder() = default;
Folder::Folder(Folder&&) noexcept = default;
Folder& Folder::operator=(Folder&&) noexcept = default;

std::vector<EntryInfo> Folder::list() const {
  std::vector<EntryInfo> entries;
  impl_->check(scan(impl_->tree(), [&](int, KeyFiles&& of_key) {
    const KeyFile* entry = of_key.entry();
    if (entry == nullptr) return;
    const std::uint64_t bytes = of_key.bytes();
    entries.push_back({std::move(of_key.key), bytes, time_of(entry->modified)});
  }));
  std::sort(entries.begin(), entries.end(),
            [](const EntryInfo& a, const EntryInfo& b) { return a.key < b.key; });
  return entries;
}

std::optional<Entry> Folder::read(const std::string& key) const {
  check_key(key);
  const EntryPtr entry = impl_->tier.read(key).entry;
  return entry ? std::optional(*entry) : std::nullopt;
}

std::optional<std::string> Folder::metadata(const std::string& key) const {
  check_key(key);
  return impl_->tier.metadata(key);
}

std::vector<std::string> Folder::markers(const std::string& kind) const {
  check_kind(kind);
  return impl_->tier.markers(kind);
}

VerifyReport Folder::verify() const {
  VerifyReport report;
  for (const EntryInfo& info : list()) {
    switch (impl_->tier.read(info.key).status) {
      case Status::hit: ++report.good; break;
      case Status::miss: break;  // removed meanwhile, or of another format version
      case Status::misplaced: report.misplaced.push_back(info.key); [[fallthrough]];
      case Status::damaged:
      case Status::failed: report.damaged.push_back(info.key); break;
    }
  }
  return report;
}

PruneReport Folder::prune(const Bounds& bounds) const {
  PruneReport report;
  impl_->check(evict(impl_->tree(), bounds, bounds.bytes, report));
  return report;
}

PruneReport Folder::clear() const {
  PruneReport report;
  const std::time_t now = std::time(nullptr);
  impl_->check(scan(impl_->tree(), [&](int folder, KeyFiles&& of_key) {
    for (const KeyFile& file : of_key.files) {
      if (may_be_written(file, now) || !remove_file(folder, file)) continue;
      report.removed_bytes += file.bytes;
      if (file.kind == KeyFile::Kind::entry) ++report.removed;
      if (file.kind >= KeyFile::Kind::damaged) ++report.leftovers;
    }
  }));
  int error = 0;
  const OpenedFolder version = list_folder(impl_->tree(), {}, error);
  while (const dirent* item = version ? ::readdir(version.get()) : nullptr) {
    const std::string name = item->d_name;
    if (name.front() != '.' && !is_entry_folder(name) && name != "lock") {
      remove_markers(impl_->tree(), name);
    }
  }
  return report;
}

}  // namespace tilejit::cache
