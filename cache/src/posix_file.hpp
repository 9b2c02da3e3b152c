#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tilejit/cache/publish.hpp"

namespace tilejit::cache {

/// An open file descriptor, closed at the end of its life. Move-only.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  ~UniqueFd();
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }

 private:
  int release() noexcept;
  int fd_ = -1;
};

// Calls that can fail return 0, or the error number (errno) of the system call that failed.

/// Fills `size` bytes from `offset` (bytes) on. A file that ends before is EIO.
[[nodiscard]] int read_exactly(int fd, char* data, std::size_t size, std::uint64_t offset) noexcept;

/// Makes `folder` and its missing parents, mode 0700. One that exists already is fine.
[[nodiscard]] int make_folders(const std::string& folder);

/// Opens (creating it, and its folder if that is missing) with `flags` for writing, mode 0644 less
/// the umask. On success `out` holds the file.
[[nodiscard]] int create_file(const std::string& path, int flags, UniqueFd& out);

}  // namespace tilejit::cache
