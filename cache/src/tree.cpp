#include "tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tilejit::cache {
namespace {

// Opens `name` in the folder `at`; it must not lead out of that folder.
UniqueFd step(int at, const char* name, int flags) noexcept {
  return open_file(at, name, flags | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

bool is_own(const struct stat& info, uid_t user) noexcept {
  const bool owner = info.st_uid == user || info.st_uid == 0;
  return owner && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool Tree::may_use(int fd) const noexcept {
  struct stat info;
  return trust_ == Trust::anyone || (::fstat(fd, &info) == 0 && is_own(info, ::geteuid()));
}

int Tree::open(std::string_view below, int flags, UniqueFd& out) const {
  // The folder itself may be a link: its target is the choice of whoever named it.
  const UniqueFd root = open_file(folder_, O_PATH | O_DIRECTORY);
  if (!root.valid()) return errno;
  if (!may_use(root.get())) return kRefused;
  out = step(root.get(), "v1", below.empty() ? flags : O_PATH);
  if (!out.valid()) return errno;
  if (!may_use(out.get())) return kRefused;
  if (below.empty()) return 0;
  const UniqueFd version = std::move(out);
  out = step(version.get(), std::string(below).c_str(), flags);
  if (!out.valid()) return errno;
  return may_use(out.get()) ? 0 : kRefused;
}

int Tree::make(std::string_view below, UniqueFd& out) const {
  int error = open(below, O_RDONLY, out);
  if (error != ENOENT) return error;
  if ((error = make_folders(folder_)) != 0) return error;
  if (!below.empty()) {
    UniqueFd version;
    if ((error = make({}, version)) != 0) return error;
    if (::mkdirat(version.get(), std::string(below).c_str(), 0700) != 0 && errno != EEXIST) {
      return errno;
    }
  } else if ((error = make_folders(folder_ + "/v1")) != 0) {
    return error;
  }
  return open(below, O_RDONLY, out);
}

int Tree::check_folder(const std::string& path, int flags, uid_t user) const noexcept {
  struct stat info;
  if (::fstatat(AT_FDCWD, path.c_str(), &info, flags) != 0) return errno;
  if (!S_ISDIR(info.st_mode)) return ENOTDIR;
  return trust_ == Trust::anyone || is_own(info, user) ? 0 : kRefused;
}

int Tree::check(std::string_view below, const struct stat& file) const {
  const uid_t user = ::geteuid();
  if (const int error = check_folder(folder_, 0, user)) return error;
  std::string path = folder_ + "/v1";
  if (const int error = check_folder(path, AT_SYMLINK_NOFOLLOW, user)) return error;
  (path += '/') += below;
  if (const int error = check_folder(path, AT_SYMLINK_NOFOLLOW, user)) return error;
  return trust_ == Trust::anyone || is_own(file, user) ? 0 : kRefused;
}

std::string Tree::path(std::string_view below, std::string_view name) const {
  return ((folder_ + "/v1/").append(below) + '/').append(name);
}

std::string describe(int error) {
  if (error == kRefused) {
    return "it belongs to another user, or others may write to it (use a folder of mode 0700 of "
           "your own, or allow it)";
  }
  return std::generic_category().message(error);
}

}  // namespace tilejit::cache
