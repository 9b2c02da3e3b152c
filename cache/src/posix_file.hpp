#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tilejit/cache/files.hpp"
#include "tilejit/cache/publish.hpp"

namespace tilejit::cache {

/// An open file descriptor, closed by the destructor. Move-only.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  ~UniqueFd();
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() noexcept;

 private:
  int fd_ = -1;
};

// Functions that can fail return 0, or the error number (errno) of the system call that failed.

/// open and openat with O_CLOEXEC and O_NOCTTY, whose descriptor is above 2 (above_stdio). On
/// failure the result is not valid and errno is set. `mode`: of a new file.
[[nodiscard]] UniqueFd open_file(int folder, const char* name, int flags, mode_t mode = 0) noexcept;
[[nodiscard]] UniqueFd open_file(const std::string& path, int flags) noexcept;

/// "<name>.<pid>-<16 random hex digits>.<suffix>". The process id tells who left a file behind; the
/// random part separates threads, and hosts that share a folder but not their process ids.
[[nodiscard]] std::string random_name(const std::string& name, const char* suffix);

/// Fills `size` bytes from byte `offset` on. Returns EIO if the file ends earlier.
[[nodiscard]] int read_exactly(int fd, char* data, std::size_t size, std::uint64_t offset) noexcept;

/// Creates `folder` and its missing parents with mode 0700. Succeeds if it exists already.
[[nodiscard]] int make_folders(const std::string& folder);

/// A file that appears in `folder` under `name`, complete, when it is committed, or never. It is
/// written as a temporary, fsynced and renamed. Readers see either the old file or the new one.
/// Safe against other threads, processes and hosts that do the same. `folder` must stay open during
/// the object's life.
class AtomicFile {
 public:
  AtomicFile(int folder, const std::string& name);
  /// Removes the temporary unless it was committed.
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  [[nodiscard]] int create() noexcept;  ///< mode 0644 less the umask
  [[nodiscard]] int append(std::string_view bytes) noexcept;
  [[nodiscard]] int sync() noexcept;
  /// Renames the temporary. The caller must fsync the folder.
  [[nodiscard]] int commit() noexcept;
  /// Closes the temporary but keeps it, so that many can be written before any is committed.
  void close() noexcept { file_ = UniqueFd(); }

 private:
  int folder_;
  std::string name_;
  std::string temporary_;  // empty: nothing to remove
  UniqueFd file_;
};

/// Publishes `bytes` as `name` in `folder`, completely or not at all, and fsyncs the folder. Calls
/// `visible` when readers can see the file, before that last fsync.
[[nodiscard]] int publish_file(int folder, const std::string& name, std::string_view bytes,
                               const std::function<void()>& visible = {});

}  // namespace tilejit::cache
