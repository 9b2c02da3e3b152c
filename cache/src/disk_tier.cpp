#include "disk_tier.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "entry_format.hpp"
#include "posix_file.hpp"

namespace tilejit::cache {
namespace {

std::string describe(int error) {
  return std::generic_category().message(error);
}

bool same_file(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

DiskTier::DiskTier(const std::string& folder, Warn warn)
    : root_(folder + "/v1/"), warn_(std::move(warn)) {}

std::string DiskTier::path_of(const std::string& key) const {
  return root_ + key.substr(0, 2) + '/' + key + ".cubin";
}

DiskTier::ReadResult DiskTier::read(const std::string& key) {
  const std::string path = path_of(key);
  // O_NONBLOCK: a FIFO of that name must not hold the request up. It has no effect on files.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.valid()) return read_open(file.get(), path);
  // ENOTDIR, ENAMETOOLONG: no such file can be, so it is a miss; publishing will tell.
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return {};
  return failed_read(path, errno);
}

DiskTier::ReadResult DiskTier::read_open(int fd, const std::string& path) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return failed_read(path, errno);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || size < kTrailerBytes) return set_aside(fd, path);

  char trailer[kTrailerBytes];
  if (const int error = read_exactly(fd, trailer, kTrailerBytes, size - kTrailerBytes)) {
    return failed_read(path, error);
  }
  if (!parse_trailer({trailer, kTrailerBytes}, size)) return set_aside(fd, path);

  auto entry = std::make_shared<Entry>();
  std::string& file = entry->payload;
  file.resize(size);
  if (const int error = read_exactly(fd, file.data(), size, 0)) return failed_read(path, error);
  const auto lengths = verify_entry(file);
  if (!lengths) return set_aside(fd, path);
  entry->metadata.assign(file, lengths->payload, lengths->metadata);
  file.resize(lengths->payload);
  return {Status::hit, std::move(entry)};
}

DiskTier::ReadResult DiskTier::failed_read(const std::string& path, int error) {
  warn_once(Trouble::reading, "cannot read the cache entry " + path + ": " + describe(error) +
                                  "; going on without it");
  return {Status::failed};
}

DiskTier::ReadResult DiskTier::set_aside(int fd, const std::string& path) {
  struct stat opened, named;
  // Another process may have rebuilt the entry since it was opened: that one is left alone.
  const bool still_there = ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
                           (same_file(opened, named) || S_ISLNK(named.st_mode));
  if (still_there) (void)::rename(path.c_str(), (path + ".damaged").c_str());
  warn_once(Trouble::damage,
            "the cache entry " + path + " is damaged; it is set aside as .damaged and made again");
  return {Status::damaged};
}

bool DiskTier::publish(const std::string& key, const Entry& entry) {
  const std::string path = path_of(key);
  const int error = publish_file(path, encode_entry(entry));
  if (error == 0) return true;
  warn_once(Trouble::publishing, "cannot write the cache entry " + path + ": " + describe(error) +
                                     "; going on in memory, choose another cache folder");
  return false;
}

bool DiskTier::add_marker(const std::string& kind, const std::string& name) {
  const std::string path = root_ + kind + '/' + name;
  UniqueFd file;
  int error = create_file(path, O_WRONLY | O_NONBLOCK, file);
  if (error == 0) {
    // The exact time: what the kernel would set by itself is the time of its last tick.
    struct timespec times[2];
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[1] = times[0];
    error = ::futimens(file.get(), times) == 0 ? 0 : errno;
  }
  if (error == 0) return true;
  warn_once(Trouble::marking, "cannot write the cache marker " + path + ": " + describe(error) +
                                  "; going on without it");
  return false;
}

std::vector<std::string> DiskTier::markers(const std::string& kind) const {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir((root_ + kind).c_str()));
  if (!folder) return {};
  using Marker = std::pair<std::pair<std::int64_t, std::int64_t>, std::string>;  // mtime, name
  std::vector<Marker> found;
  while (const dirent* item = ::readdir(folder.get())) {
    struct stat info;
    if (::fstatat(::dirfd(folder.get()), item->d_name, &info, 0) != 0) continue;
    if (!S_ISREG(info.st_mode)) continue;
    found.push_back({{info.st_mtim.tv_sec, info.st_mtim.tv_nsec}, item->d_name});
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<std::string> names;
  names.reserve(found.size());
  for (Marker& marker : found) names.push_back(std::move(marker.second));
  return names;
}

void DiskTier::warn_once(Trouble trouble, const std::string& message) {
  const unsigned bit = 1u << static_cast<unsigned>(trouble);
  if ((warned_.fetch_or(bit) & bit) == 0 && warn_) warn_(message);
}

}  // namespace tilejit::cache
