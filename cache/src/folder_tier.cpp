#include "folder_tier.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "entry_file.hpp"
#include "names.hpp"
#include "posix_file.hpp"
#include "scan.hpp"

namespace tilejit::cache {
namespace {

constexpr std::int64_t kTouchSeconds = 3600;

bool same_file(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::string_view folder_of(const std::string& key) noexcept {
  return std::string_view(key).substr(0, 2);
}

// The mtime tells when an entry was last used, to the hour: a write per use would be expensive, and
// many mounts do not update atime. An mtime in the future is corrected too; otherwise the entry
// would never be evicted.
void touch_if_due(int fd, const struct stat& info) noexcept {
  struct timespec now;
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (std::abs(now.tv_sec - info.st_mtim.tv_sec) >= kTouchSeconds) (void)::futimens(fd, nullptr);
}

}  // namespace

std::string FolderTier::path_of(const std::string& key) const {
  return tree_.path(folder_of(key), entry_name(key));
}

// A miss costs one call. The folders are checked only if the file exists.
int FolderTier::open_entry(const std::string& key, UniqueFd& file, struct stat& info) const {
  // O_NONBLOCK: a FIFO of that name must not block the request. The flag has no effect on regular
  // files.
  file = open_file(path_of(key), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.valid() || ::fstat(file.get(), &info) != 0) return errno;
  return tree_.check(folder_of(key), info);
}

ReadResult FolderTier::read(const std::string& key) {
  UniqueFd file;
  struct stat info;
  const int error = open_entry(key, file, info);
  if (error == 0) return read_open(file.get(), info, key);
  if (error == ELOOP) return damaged(-1, key);
  // ENOTDIR, ENAMETOOLONG: such a file cannot exist, so it is a miss. Publishing will report it.
  if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG) return {};
  return failed_read(key, error);
}

// Opens the file of an entry if its trailer matches.
std::optional<EntryLengths> FolderTier::open_whole(const std::string& key, UniqueFd& file,
                                                   struct stat& info) const {
  if (open_entry(key, file, info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode)) return std::nullopt;
  return read_lengths(file.get(), {0, static_cast<std::uint64_t>(info.st_size)});
}

bool FolderTier::has(const std::string& key) {
  UniqueFd file;
  struct stat info;
  if (!open_whole(key, file, info)) return false;
  if (access_ == Access::read_write) touch_if_due(file.get(), info);
  return true;
}

std::optional<std::string> FolderTier::metadata(const std::string& key) const {
  UniqueFd file;
  struct stat info;
  const auto lengths = open_whole(key, file, info);
  if (!lengths) return std::nullopt;
  std::string text(lengths->metadata, '\0');
  if (read_exactly(file.get(), text.data(), text.size(), lengths->payload) != 0) {
    return std::nullopt;
  }
  return text;
}

ReadResult FolderTier::read_open(int fd, const struct stat& info, const std::string& key) {
  if (!S_ISREG(info.st_mode)) return damaged(fd, key);
  EntryFile file = read_entry(fd, {0, static_cast<std::uint64_t>(info.st_size)});
  switch (file.state) {
    case EntryFile::State::unreadable: return failed_read(key, file.error);
    case EntryFile::State::other_format: return {};
    case EntryFile::State::damaged: return damaged(fd, key);
    case EntryFile::State::whole: break;
  }
  if (!is_of(identity_, key, file.entry->metadata)) return damaged(fd, key, Status::misplaced);
  if (access_ == Access::read_write) touch_if_due(fd, info);
  return {Status::hit, std::move(file.entry)};
}

ReadResult FolderTier::failed_read(const std::string& key, int error) {
  report(Trouble::reading, "cannot read the cache entry ", path_of(key), error);
  return {Status::failed};
}

// `fd` is the entry that was read, or -1 for a link, which is not followed.
void FolderTier::set_aside(int fd, const std::string& key) const {
  UniqueFd folder;
  if (tree_.open(folder_of(key), O_PATH, folder) != 0) return;
  const std::string name = entry_name(key);
  struct stat opened, named;
  // Another process may have rebuilt the entry since it was opened. A rebuilt entry is left alone.
  if (::fstatat(folder.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return;
  const bool same =
      fd < 0 ? S_ISLNK(named.st_mode) : ::fstat(fd, &opened) == 0 && same_file(opened, named);
  if (!same) return;
  const auto rename_to = [&](const std::string& aside) {
    return ::renameat(folder.get(), name.c_str(), folder.get(), aside.c_str()) == 0;
  };
  // A folder of that name, or in place of the entry, may be in the way.
  if (!rename_to(name + ".damaged")) (void)rename_to(random_name(name, "damaged"));
}

ReadResult FolderTier::damaged(int fd, const std::string& key, Status status) {
  const std::string what = "the cache entry " + path_of(key) +
                           (status == Status::misplaced ? " is another key's" : " is damaged");
  if (access_ == Access::read_only) {
    warn_once(Trouble::damage, what + "; going on without it, as its folder is read only");
  } else {
    set_aside(fd, key);
    warn_once(Trouble::damage, what + "; it is set aside as .damaged and made again");
  }
  return {status};
}

bool FolderTier::publish(const std::string& key, const Entry& entry,
                         const std::function<void()>& visible) {
  return write(key, entry_name(key), encode_entry(entry), visible);
}

bool FolderTier::keep(const std::string& key, const std::string& suffix, const std::string& text) {
  return write(key, key + '.' + suffix, text, {});
}

bool FolderTier::write(const std::string& key, const std::string& name, const std::string& bytes,
                       const std::function<void()>& visible) {
  UniqueFd folder;
  int error = tree_.make(folder_of(key), folder);
  if (error == 0) error = publish_file(folder.get(), name, bytes, visible);
  return error == 0 || report(Trouble::publishing, "cannot write the cache entry ",
                              tree_.path(folder_of(key), name), error);
}

bool FolderTier::add_marker(const std::string& kind, const std::string& name) {
  UniqueFd folder;
  int error = tree_.make(kind, folder);
  if (error == 0) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOFOLLOW;
    const UniqueFd file = open_file(folder.get(), name.c_str(), kFlags, 0644);
    // Sets the exact time: the kernel itself would use the time of its last tick.
    struct timespec times[2];
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[1] = times[0];
    error = file.valid() && ::futimens(file.get(), times) == 0 ? 0 : errno;
  }
  return error == 0 ||
         report(Trouble::marking, "cannot write the cache marker ", tree_.path(kind, name), error);
}

std::vector<std::string> FolderTier::markers(const std::string& kind) {
  int error = 0;
  const OpenedFolder folder = list_folder(tree_, kind, error);
  if (!folder) return {};
  using Marker = std::pair<std::pair<std::int64_t, std::int64_t>, std::string>;  // mtime, name
  std::vector<Marker> found;
  while (const dirent* item = ::readdir(folder.get())) {
    struct stat info;
    if (::fstatat(::dirfd(folder.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(info.st_mode)) continue;
    found.push_back({{info.st_mtim.tv_sec, info.st_mtim.tv_nsec}, item->d_name});
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<std::string> names;
  names.reserve(found.size());
  for (Marker& marker : found) names.push_back(std::move(marker.second));
  return names;
}

// Returns false, so that the caller can return it.
bool FolderTier::report(Trouble trouble, const std::string& what, const std::string& path,
                        int error) {
  if (error == kRefused) {
    warn_once(Trouble::refused,
              "the cache folder " + tree_.folder() + " is not used: " + describe(error));
  } else {
    const char* advice = trouble == Trouble::publishing
                             ? "; going on in memory, choose another cache folder"
                             : "; going on without it";
    warn_once(trouble, what + path + ": " + describe(error) + advice);
  }
  return false;
}

void FolderTier::warn_once(Trouble trouble, const std::string& message) {
  const unsigned bit = 1u << static_cast<unsigned>(trouble);
  if ((warned_.fetch_or(bit) & bit) == 0 && warn_) warn_(message);
}

}  // namespace tilejit::cache
