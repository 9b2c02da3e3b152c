#include "posix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

namespace tilejit::cache {
std::string random_name(const std::string& name, const char* suffix) {
  std::random_device random;
  char middle[48];
  std::snprintf(middle, sizeof middle, ".%ld-%08x%08x.", static_cast<long>(::getpid()), random(),
                random());
  constexpr std::size_t kLongest = 200;  // a name may have 255 bytes
  return name.substr(0, kLongest) + middle + suffix;
}

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

int UniqueFd::release() noexcept {
  return std::exchange(fd_, -1);
}

int above_stdio(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int above = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(fd);
  errno = error;
  return above;
}

UniqueFd open_file(int folder, const char* name, int flags, mode_t mode) noexcept {
  return UniqueFd(above_stdio(::openat(folder, name, flags | O_CLOEXEC | O_NOCTTY, mode)));
}

UniqueFd open_file(const std::string& path, int flags) noexcept {
  return UniqueFd(above_stdio(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY)));
}

int read_exactly(int fd, char* data, std::size_t size, std::uint64_t offset) noexcept {
  while (size > 0) {
    const ssize_t got = ::pread(fd, data, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return EIO;
    data += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return 0;
}

int make_folders(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || folder.find('/', 1) == std::string::npos) return errno;
  if (const int error = make_folders(folder.substr(0, folder.rfind('/')))) return error;
  // Another process may have created it first.
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

AtomicFile::AtomicFile(int folder, const std::string& name) : folder_(folder), name_(name) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : folder_(other.folder_),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)) {}

int AtomicFile::create() noexcept {
  std::string temporary = random_name(name_, "tmp");
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  file_ = open_file(folder_, temporary.c_str(), kFlags, 0644);
  if (!file_.valid()) return errno;
  temporary_ = std::move(temporary);
  return 0;
}

int AtomicFile::append(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Called before the rename: otherwise a crash of the machine may leave the final name without
// content.
int AtomicFile::sync() noexcept {
  return ::fsync(file_.get()) == 0 ? 0 : errno;
}

int AtomicFile::commit() noexcept {
  if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) return errno;
  temporary_.clear();
  file_ = UniqueFd();
  return 0;
}

int publish_file(int folder, const std::string& name, std::string_view bytes,
                 const std::function<void()>& visible) {
  AtomicFile file(folder, name);
  if (const int error = file.create()) return error;
  if (const int error = file.append(bytes)) return error;
  if (const int error = file.sync()) return error;
  if (const int error = file.commit()) return error;
  if (visible) visible();
  // Every reader can see the entry now. If the folder cannot be synced, a crash of the machine may
  // lose the name. That would be a miss, so it is no reason to report a failure.
  (void)::fsync(folder);
  return 0;
}

int publish_file(const std::string& path, std::string_view bytes) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const auto open_parent = [&] { return open_file(parent, O_RDONLY | O_DIRECTORY); };
  UniqueFd folder = open_parent();
  if (!folder.valid() && errno == ENOENT) {
    if (const int error = make_folders(path.substr(0, slash))) return error;
    folder = open_parent();
  }
  if (!folder.valid()) return errno;
  return publish_file(folder.get(), path.substr(slash + 1), bytes);
}

}  // namespace tilejit::cache
