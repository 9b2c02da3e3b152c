#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tree.hpp"

namespace tilejit::cache {

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};
using OpenedFolder = std::unique_ptr<DIR, CloseFolder>;

/// Opens `v1/<below>` for listing. Returns null and sets `error` if that fails.
[[nodiscard]] OpenedFolder list_folder(const Tree& tree, std::string_view below, int& error);

/// A file that belongs to a key, "<key>.<rest>", or a folder of such a name, which belongs to
/// nobody.
struct KeyFile {
  enum class Kind : std::uint8_t { entry, kept, damaged, temporary, folder };
  Kind kind = Kind::entry;
  std::string name;
  std::uint64_t bytes = 0;
  struct timespec modified = {};
};

/// The files of one key.
struct KeyFiles {
  std::string key;
  std::vector<KeyFile> files;  ///< the entry first, if there is one

  [[nodiscard]] const KeyFile* entry() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;  ///< with the files beside the entry
};

/// Calls `see` for every key that has files, folder by folder, with the folder's descriptor.
/// Returns 0 or an error of Tree.
[[nodiscard]] int scan(const Tree& tree, const std::function<void(int folder, KeyFiles&&)>& see);

/// True if its writer may still be alive: a temporary younger than an hour. The age is compared
/// without its sign, since a clock may have been set back.
[[nodiscard]] bool may_be_written(const KeyFile& file, std::time_t now) noexcept;

/// Removes a file, or a folder with all its content. Returns false if something stays.
bool remove_file(int folder, const KeyFile& file);

/// The kind of a file called `name`, if it belongs to a key.
[[nodiscard]] bool classify(std::string_view name, KeyFile::Kind& kind) noexcept;

}  // namespace tilejit::cache
