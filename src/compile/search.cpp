#include "compile/search.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "compile/elf_id.hpp"
#include "compile/search_places.hpp"
#include "compile/toolkit.hpp"
#include "compile/unique_library.hpp"

namespace tilejit::compile {
namespace {

namespace fs = std::filesystem;

// Newest first. The bare name may be of any version.
constexpr std::array<const char*, 3> kFileNames = {"libnvrtc.so.13", "libnvrtc.so.12",
                                                   "libnvrtc.so"};

// Where the library may be in an explicitly named folder, besides the places of `pip install
// --target`: in the folder itself, or as in a toolkit.
constexpr const char* kBelowExplicit[] = {"", "lib64", "lib"};

std::string path_of(void* library) {
  const link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr) return {};
  return map->l_name;
}

// Looks at the loaded objects. dlopen with RTLD_NOLOAD would first search all folders of the
// loader.
std::string loaded_copy() {
  std::string path;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const std::string_view name = info->dlpi_name;
        const std::string_view file = name.substr(name.rfind('/') + 1);
        if (!file.starts_with("libnvrtc.so")) return 0;
        *static_cast<std::string*>(out) = name;
        return 1;
      },
      &path);
  return path;
}

std::vector<std::string> split(const std::string& list, const char* separators) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at < list.size()) {
    const std::size_t end = std::min(list.find_first_of(separators, at), list.size());
    if (end > at) parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Judges by the name behind all links: "libnvrtc.so.12" may be any 12.x.
bool is_outdated(const fs::path& file) {
  if (file.filename() == kFileNames[0]) return false;  // the usual case needs no resolved links
  std::error_code error;
  const auto version = version_in_name(fs::canonical(file, error).filename().string());
  return version.has_value() && !is_supported_version(version->first, version->second);
}

// The id of the builtins. NVRTC loads libnvrtc-builtins.so.<major>.<minor> from its own folder when
// it compiles, and cubins depend on that library too. If the name of `library` does not tell the
// version, all builtins in the folder count. They are found by trying names, since listing a system
// folder would take longer than a cache hit.
std::string builtins_id(const fs::path& library) {
  constexpr int kOldestMajor = 12, kNewestMajor = 13, kMostMinors = 20;
  std::error_code error;
  const fs::path real = fs::canonical(library, error);
  auto version = version_in_name(real.filename().string());
  if (!version) version = version_in_name(library.filename().string());
  const auto matches = [&](int major, int minor) {
    return !version ||
           (version->first == major && (version->second < 0 || version->second == minor));
  };
  std::string ids;
  for (int major = kOldestMajor; major <= kNewestMajor; ++major) {
    for (int minor = 0; minor < kMostMinors; ++minor) {
      if (!matches(major, minor)) continue;
      const std::string name =
          "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
      auto id = elf_id(library.parent_path() / name);
      if (!id && !real.empty()) id = elf_id(real.parent_path() / name);
      if (id) ids += '.' + *id;
    }
  }
  return ids;
}

// Each member function searches one kind of place and returns true when the search is over.
class Search {
 public:
  bool at_explicit(const fs::path& path) {
    explicit_ = true;
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (at_file(path)) return true;
      const bool exists = fs::exists(path, error);
      note(path.string() + (exists ? " (no shared library of this machine)" : ""));
      return false;
    }
    for (const char* below : kBelowExplicit) {
      if (in_folder(*below == '\0' ? path : path / below)) return true;
    }
    for (const char* below : wheel_folders()) {
      if (in_folder(path / below)) return true;
    }
    return false;
  }

  bool everywhere() {
    if (const std::string loaded = loaded_copy(); !loaded.empty() && at_file(loaded)) return true;
    for (const auto& folder : split(environment("LD_LIBRARY_PATH"), ":;")) {
      if (in_folder(folder)) return true;
    }
    if (beside_this_library()) return true;
    return in_toolkits() || in_system_folders() || in_run_path() || in_python_packages() ||
           in_the_loader();
  }

  SearchResult result() && {
    if (!result_.found) result_.found = std::move(outdated_);
    return std::move(result_);
  }

 private:
  // Returns false if the place has already been searched.
  bool note(std::string place) {
    auto& places = result_.looked_in;
    if (std::find(places.begin(), places.end(), place) != places.end()) return false;
    places.push_back(std::move(place));
    return true;
  }

  bool at_file(const fs::path& path) {
    if (::access(path.c_str(), R_OK) != 0) return false;
    std::error_code error;
    const fs::path file = fs::absolute(path, error);
    if (!explicit_ && is_hidden(file)) return false;
    auto id = elf_id(file);
    if (!id) return false;
    CompilerId found{file, *id + builtins_id(file)};
    if (!explicit_ && is_outdated(file)) {
      // Kept for the error message in case there is no other.
      if (!outdated_) outdated_ = std::move(found);
      return false;
    }
    result_.found = std::move(found);
    return true;
  }

  bool in_folder(const fs::path& folder) {
    if (!explicit_ && is_hidden(folder)) return false;
    return note(folder.string()) && has_it(folder);
  }

  bool has_it(const fs::path& folder) {
    return std::any_of(kFileNames.begin(), kFileNames.end(),
                       [&](const char* name) { return at_file(folder / name); });
  }

  bool in_toolkit(const fs::path& toolkit) {
    if (in_folder(toolkit / "lib64")) return true;
    std::error_code error;
    for (fs::directory_iterator item(toolkit / "targets", error), end; !error && item != end;
         item.increment(error)) {
      if (in_folder(item->path() / "lib")) return true;
    }
    return false;
  }

  bool in_toolkits() {
    if (toolkits_are_hidden()) return false;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
      const std::string home = environment(variable);
      if (!home.empty() && in_toolkit(home)) return true;
    }
    const auto toolkits = toolkits_in_usr_local();
    return std::any_of(toolkits.begin(), toolkits.end(),
                       [&](const fs::path& toolkit) { return in_toolkit(toolkit); });
  }

  bool beside_this_library() {
    Dl_info info;
    if (::dladdr(reinterpret_cast<const void*>(&find_nvrtc), &info) == 0) return false;
    const fs::path folder = fs::path(info.dli_fname).parent_path();
    return !folder.empty() && in_folder(folder);
  }

  bool in_system_folders() {
    std::vector<fs::path> folders = system_folders();
    std::erase_if(folders, [&](const fs::path& at) { return is_hidden(at) || !note(at.string()); });
    for (const char* name : kFileNames) {  // newest first, over all folders
      for (const auto& folder : folders) {
        if (at_file(folder / name)) return true;
      }
    }
    return false;
  }

  bool in_run_path() {
    const auto folders = run_path_folders();
    return std::any_of(folders.begin(), folders.end(),
                       [&](const fs::path& folder) { return in_folder(folder); });
  }

  bool in_python_packages() {
    for (const fs::path& prefix : python_prefixes()) {
      for (const fs::path& packages : python_packages(prefix)) {
        note(packages.string());
        for (const char* below : wheel_folders()) {
          if (has_it(packages / below)) return true;
        }
      }
    }
    return false;
  }

  // The loader's cache may know more places, but only loading can ask it, and that might load a
  // hidden toolkit's library. A copy found here stays loaded, since it will be used.
  bool in_the_loader() {
    if (toolkits_are_hidden()) return false;
    note("the dynamic loader");
    return std::any_of(kFileNames.begin(), kFileNames.end(), [&](const char* name) {
      const UniqueLibrary library(::dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE));
      return library != nullptr && at_file(path_of(library.get()));
    });
  }

  bool explicit_ = false;  // requested by path, so it may be hidden or too old
  std::optional<CompilerId> outdated_;
  SearchResult result_;
};

}  // namespace

std::optional<std::pair<int, int>> version_in_name(std::string_view file_name) {
  constexpr std::string_view kPrefix = "libnvrtc.so.";
  if (!file_name.starts_with(kPrefix)) return std::nullopt;
  file_name.remove_prefix(kPrefix.size());
  const char* last = file_name.data() + file_name.size();
  int major = 0;
  int minor = -1;
  const auto rest = std::from_chars(file_name.data(), last, major);
  if (rest.ec != std::errc()) return std::nullopt;
  if (rest.ptr != last && *rest.ptr == '.') std::from_chars(rest.ptr + 1, last, minor);
  return std::pair(major, minor);
}

bool is_supported_version(int major, int minor) noexcept {
  return major == 13 || (major == 12 && (minor < 0 || minor >= 8));
}

SearchResult search_nvrtc(const fs::path& explicit_path) {
  Search search;
  (void)(explicit_path.empty() ? search.everywhere() : search.at_explicit(explicit_path));
  return std::move(search).result();
}

std::optional<CompilerId> find_nvrtc(const fs::path& explicit_path) {
  return search_nvrtc(explicit_path).found;
}

}  // namespace tilejit::compile
