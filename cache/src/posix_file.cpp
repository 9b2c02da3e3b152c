#include "posix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

namespace tilejit::cache {
namespace {

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

int write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// A file that vanishes unless it is committed under its final name.
class Temporary {
 public:
  explicit Temporary(const std::string& path) : final_(path) {
    // The process id names the culprit of a leftover; the random part keeps apart threads, and
    // hosts and containers that share a folder but not their process ids.
    std::random_device random;
    char suffix[48];
    std::snprintf(suffix, sizeof suffix, ".%ld-%08x%08x.tmp", static_cast<long>(::getpid()),
                  random(), random());
    path_ = path + suffix;
  }
  ~Temporary() {
    if (file_.valid()) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  int write(std::string_view bytes) {
    if (const int error = create_file(path_, O_WRONLY | O_EXCL, file_)) return error;
    if (const int error = write_all(file_.get(), bytes)) return error;
    // Before the rename: else a crash of the machine may leave the final name with no bytes behind
    // it.
    return ::fsync(file_.get()) == 0 ? 0 : errno;
  }

  int commit() noexcept {
    if (::rename(path_.c_str(), final_.c_str()) != 0) return errno;
    file_ = UniqueFd();
    return 0;
  }

 private:
  std::string final_;
  std::string path_;
  UniqueFd file_;
};

}  // namespace

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
  if (const int error = make_folders(parent_of(folder))) return error;
  // Another process may have been first.
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

int create_file(const std::string& path, int flags, UniqueFd& out) {
  const auto open_it = [&] {
    return UniqueFd(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0644));
  };
  out = open_it();
  if (!out.valid() && errno == ENOENT) {
    if (const int error = make_folders(parent_of(path))) return error;
    out = open_it();
  }
  return out.valid() ? 0 : errno;
}

int publish_file(const std::string& path, std::string_view bytes) {
  Temporary temporary(path);
  if (const int error = temporary.write(bytes)) return error;
  if (const int error = temporary.commit()) return error;
  // The entry is there for every reader by now. If the folder cannot be synced, a crash of the
  // machine may lose the name, and that is a miss: no reason to report the publication as failed.
  const UniqueFd folder(::open(parent_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) (void)::fsync(folder.get());
  return 0;
}

}  // namespace tilejit::cache
