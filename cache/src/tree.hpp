#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "posix_file.hpp"
#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

/// The error for files that exist but are not used because of their owner (Trust).
inline constexpr int kRefused = -1;

/// True if `info` belongs to `user` or root, and nobody else may write to it.
[[nodiscard]] bool is_own(const struct stat& info, uid_t user) noexcept;

/// A cache folder `<folder>/v1`. Each use opens it anew by name, so that it may be deleted or
/// replaced while the process runs. Follows no symbolic link below `folder`. Thread-safe.
class Tree {
 public:
  /// Does not access the disk. `folder` is absolute.
  Tree(std::string folder, Trust trust) : folder_(std::move(folder)), trust_(trust) {}

  // Each returns 0, an error number, or kRefused. `below` is the name of one folder, or empty for
  // v1.

  /// Opens `v1/<below>`. `flags`: O_PATH to reach files in it, O_RDONLY to list or sync it.
  [[nodiscard]] int open(std::string_view below, int flags, UniqueFd& out) const;
  /// As open with O_RDONLY, but creates missing folders with mode 0700.
  [[nodiscard]] int make(std::string_view below, UniqueFd& out) const;

  /// Whether a file that was opened by its name in `v1/<below>` may be used: 0; kRefused; or
  /// ENOTDIR if a symbolic link was followed. Cheaper than open.
  [[nodiscard]] int check(std::string_view below, const struct stat& file) const;

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] Trust trust() const noexcept { return trust_; }
  /// `<folder>/v1/<below>/<name>`
  [[nodiscard]] std::string path(std::string_view below, std::string_view name) const;

 private:
  [[nodiscard]] bool may_use(int fd) const noexcept;
  [[nodiscard]] int check_folder(const std::string& path, int flags, uid_t user) const noexcept;

  std::string folder_;
  Trust trust_;
};

/// The text for an error that a Tree returned.
[[nodiscard]] std::string describe(int error);

}  // namespace tilejit::cache
