#include "evict.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scan.hpp"

namespace tilejit::cache {
namespace {

constexpr std::int64_t kOrphanSeconds = 3600;
constexpr std::int64_t kDamagedSeconds = 24 * 3600;

// The absolute distance, so that files from the future count as stale too; they exist if a clock
// was set back.
std::int64_t seconds_from(std::time_t now, const struct timespec& when) noexcept {
  return std::abs(static_cast<std::int64_t>(now - when.tv_sec));
}

bool is_leftover(const KeyFile& file, bool has_entry, std::time_t now) noexcept {
  const std::int64_t seconds = seconds_from(now, file.modified);
  switch (file.kind) {
    case KeyFile::Kind::entry: return false;
    case KeyFile::Kind::kept: return !has_entry && seconds >= kOrphanSeconds;
    case KeyFile::Kind::damaged:
    case KeyFile::Kind::folder: return seconds >= kDamagedSeconds;
    case KeyFile::Kind::temporary: return !may_be_written(file, now);
  }
  return false;
}

bool remove_unchanged(int folder, const KeyFile& file) {
  struct stat now;
  if (::fstatat(folder, file.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (now.st_mtim.tv_sec != file.modified.tv_sec || now.st_mtim.tv_nsec != file.modified.tv_nsec) {
    return false;
  }
  return remove_file(folder, file);
}

class Eviction {
 public:
  Eviction(const Tree& tree, const Bounds& bounds, PruneReport& report)
      : tree_(tree), bounds_(bounds), report_(report) {}

  int run(std::uint64_t low_water) {
    const auto see = [this](int folder, KeyFiles&& of_key) { look_at(folder, std::move(of_key)); };
    if (const int error = scan(tree_, see)) return error;
    if (bounds_.bytes == 0 || report_.kept_bytes <= bounds_.bytes) return 0;
    std::sort(kept_.begin(), kept_.end(),
              [](const KeyFiles& a, const KeyFiles& b) { return used(a) < used(b); });
    return remove_oldest(low_water);
  }

 private:
  static std::pair<std::time_t, long> used(const KeyFiles& of_key) noexcept {
    const struct timespec& time = of_key.entry()->modified;
    return {time.tv_sec, time.tv_nsec};
  }

  void look_at(int folder, KeyFiles&& of_key) {
    const bool has_entry = of_key.entry() != nullptr;
    std::erase_if(of_key.files, [&](const KeyFile& file) {
      if (!is_leftover(file, has_entry, now_)) return false;
      if (!remove_unchanged(folder, file)) return true;
      ++report_.leftovers;
      report_.removed_bytes += file.bytes;
      return true;
    });
    if (!has_entry) return;
    if (bounds_.age.count() > 0 && now_ - of_key.entry()->modified.tv_sec > bounds_.age.count() &&
        remove(folder, of_key)) {
      return;
    }
    ++report_.kept;
    report_.kept_bytes += of_key.bytes();
    if (bounds_.bytes > 0) kept_.push_back(std::move(of_key));
  }

  // Removes the entry before the files kept beside it, so that nobody finds half of it.
  bool remove(int folder, const KeyFiles& of_key) {
    if (!remove_unchanged(folder, *of_key.entry())) return false;
    for (const KeyFile& file : of_key.files) {
      if (file.kind == KeyFile::Kind::kept) ::unlinkat(folder, file.name.c_str(), 0);
    }
    ++report_.removed;
    report_.removed_bytes += of_key.bytes();
    return true;
  }

  int remove_oldest(std::uint64_t low_water) {
    std::map<std::string, UniqueFd> folders;  // at most 256
    for (const KeyFiles& of_key : kept_) {
      if (report_.kept_bytes <= low_water) break;
      const std::string name = of_key.key.substr(0, 2);
      UniqueFd& folder = folders[name];
      const int error = folder.valid() ? 0 : tree_.open(name, O_PATH, folder);
      if (error == ENOENT) continue;
      if (error != 0) return error;
      if (!remove(folder.get(), of_key)) continue;
      --report_.kept;
      report_.kept_bytes -= of_key.bytes();
    }
    return 0;
  }

  const Tree& tree_;
  const Bounds& bounds_;
  PruneReport& report_;
  const std::time_t now_ = std::time(nullptr);
  std::vector<KeyFiles> kept_;
};

}  // namespace

int evict(const Tree& tree, const Bounds& bounds, std::uint64_t low_water, PruneReport& report) {
  return Eviction(tree, bounds, report).run(low_water);
}

}  // namespace tilejit::cache
