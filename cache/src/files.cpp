#include "tilejit/cache/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "posix_file.hpp"
#include "tree.hpp"

namespace tilejit::cache {
namespace {

using Outcome = FileText::Outcome;

constexpr std::size_t kPiece = 1u << 16;

FileText failed(int error) {
  return {.outcome = error == ENOENT ? Outcome::missing : Outcome::failed,
          .reason = describe(error)};
}

// A file of ours in a folder that everybody may write to is safe if only owners may replace files
// there.
bool is_own_folder(const std::filesystem::path& folder) noexcept {
  struct stat info;
  if (::stat(folder.empty() ? "." : folder.c_str(), &info) != 0) return false;
  if ((info.st_mode & S_ISVTX) != 0) info.st_mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
  return is_own(info, ::geteuid());
}

FileText read_open(int fd, std::uintmax_t expected, std::uintmax_t most_bytes) {
  FileText text;
  text.bytes.reserve(std::min(expected, most_bytes) + kPiece);
  for (;;) {
    const std::size_t had = text.bytes.size();
    text.bytes.resize(had + kPiece);
    const ssize_t got = ::read(fd, text.bytes.data() + had, kPiece);
    const int error = errno;
    text.bytes.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return failed(error);
    if (got == 0) return text;
    if (text.bytes.size() > most_bytes) {
      return {.outcome = Outcome::too_large,
              .reason = "it is larger than " + std::to_string(most_bytes) +
                        " bytes, the most that is read"};
    }
  }
}

}  // namespace

FileText read_file(const std::filesystem::path& path, const FileRules& rules) {
  const bool regular = rules.kind == FileKind::regular;
  const UniqueFd file = open_file(path.string(), O_RDONLY | (regular ? O_NONBLOCK : 0));
  struct stat info;
  if (!file.valid() || ::fstat(file.get(), &info) != 0) return failed(errno);
  if (S_ISDIR(info.st_mode)) return {.outcome = Outcome::folder, .reason = "it is a folder"};
  if (regular && !S_ISREG(info.st_mode)) {
    return {.outcome = Outcome::not_regular, .reason = "it is no regular file"};
  }
  if (rules.trust == Trust::own &&
      (!is_own(info, ::geteuid()) || !is_own_folder(path.parent_path()))) {
    return {.outcome = Outcome::refused, .reason = describe(kRefused)};
  }
  const auto expected = S_ISREG(info.st_mode) ? static_cast<std::uintmax_t>(info.st_size) : 0;
  return read_open(file.get(), expected, rules.most_bytes);
}

}  // namespace tilejit::cache
