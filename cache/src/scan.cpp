#include "scan.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "names.hpp"
#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {
namespace {

constexpr std::size_t kKeyDigits = 64;
constexpr std::int64_t kTemporarySeconds = 3600;
constexpr int kDeepestFolder = 32;  // deeper folders are left for a person to remove

std::vector<std::string> names_in(DIR* folder) {
  std::vector<std::string> names;
  while (const dirent* item = ::readdir(folder)) names.emplace_back(item->d_name);
  return names;
}

// Collects the files of each key, its entry first.
std::vector<KeyFile> key_files(DIR* folder) {
  std::vector<KeyFile> files;
  for (std::string& name : names_in(folder)) {
    KeyFile file;
    struct stat info;
    if (!classify(name, file.kind)) continue;
    if (::fstatat(::dirfd(folder), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(info.st_mode)) file.kind = KeyFile::Kind::folder;
    file.name = std::move(name);
    file.bytes = static_cast<std::uint64_t>(info.st_size);
    file.modified = info.st_mtim;
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const KeyFile& a, const KeyFile& b) {
    const int keys = a.name.compare(0, kKeyDigits, b.name, 0, kKeyDigits);
    return keys != 0 ? keys < 0 : a.kind < b.kind;
  });
  return files;
}

void see_folder(DIR* folder, const std::function<void(int, KeyFiles&&)>& see) {
  KeyFiles of_key;
  for (KeyFile& file : key_files(folder)) {
    if (file.name.compare(0, kKeyDigits, of_key.key) != 0) {
      if (!of_key.files.empty()) see(::dirfd(folder), std::move(of_key));
      of_key = {file.name.substr(0, kKeyDigits), {}};
    }
    of_key.files.push_back(std::move(file));
  }
  if (!of_key.files.empty()) see(::dirfd(folder), std::move(of_key));
}

// Follows no link.
bool remove_folder(int parent, const char* name, int depth) {
  UniqueFd fd = open_file(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const OpenedFolder folder(fd.valid() && depth > 0 ? ::fdopendir(fd.get()) : nullptr);
  if (folder) {
    (void)fd.release();
    for (const std::string& item : names_in(folder.get())) {
      if (item == "." || item == "..") continue;
      if (::unlinkat(::dirfd(folder.get()), item.c_str(), 0) == 0) continue;
      (void)remove_folder(::dirfd(folder.get()), item.c_str(), depth - 1);
    }
  }
  return ::unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

}  // namespace

bool may_be_written(const KeyFile& file, std::time_t now) noexcept {
  const auto seconds = static_cast<std::int64_t>(now - file.modified.tv_sec);
  return file.kind == KeyFile::Kind::temporary && std::abs(seconds) < kTemporarySeconds;
}

bool remove_file(int folder, const KeyFile& file) {
  if (file.kind != KeyFile::Kind::folder) return ::unlinkat(folder, file.name.c_str(), 0) == 0;
  return remove_folder(folder, file.name.c_str(), kDeepestFolder);
}

bool classify(std::string_view name, KeyFile::Kind& kind) noexcept {
  if (name.size() <= kKeyDigits + 1 || name[kKeyDigits] != '.') return false;
  if (!is_key(name.substr(0, kKeyDigits))) return false;
  kind = KeyFile::Kind::kept;
  if (name.substr(kKeyDigits) == ".cubin") kind = KeyFile::Kind::entry;
  if (name.ends_with(".damaged")) kind = KeyFile::Kind::damaged;
  if (name.ends_with(".tmp")) kind = KeyFile::Kind::temporary;
  return true;
}

const KeyFile* KeyFiles::entry() const noexcept {
  return files.front().kind == KeyFile::Kind::entry ? &files.front() : nullptr;
}

std::uint64_t KeyFiles::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const KeyFile& file : files) {
    if (file.kind <= KeyFile::Kind::kept) sum += file.bytes;
  }
  return sum;
}

OpenedFolder list_folder(const Tree& tree, std::string_view below, int& error) {
  UniqueFd fd;
  error = tree.open(below, O_RDONLY, fd);
  if (error != 0) return nullptr;
  OpenedFolder folder(::fdopendir(fd.get()));
  if (!folder) {
    error = errno;
    return nullptr;
  }
  (void)fd.release();
  return folder;
}

int scan(const Tree& tree, const std::function<void(int folder, KeyFiles&&)>& see) {
  int error = 0;
  const OpenedFolder version = list_folder(tree, {}, error);
  if (!version) return error == ENOENT ? 0 : error;
  for (const std::string& name : names_in(version.get())) {
    if (!is_entry_folder(name)) continue;
    const OpenedFolder folder = list_folder(tree, name, error);
    if (folder) see_folder(folder.get(), see);
    // The folder has been removed meanwhile, or is not a folder.
    if (!folder && error != ENOENT && error != ENOTDIR) return error;
  }
  return 0;
}

}  // namespace tilejit::cache
