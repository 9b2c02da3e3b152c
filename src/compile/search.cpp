#include "compile/search.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <span>
#include <system_error>

#include "compile/elf_id.hpp"

namespace tilejit::compile {
namespace {

namespace fs = std::filesystem;

// Newest first; the bare name may be of any version.
constexpr std::array<const char*, 3> kFileNames = {"libnvrtc.so.13", "libnvrtc.so.12",
                                                   "libnvrtc.so"};

#if defined(__x86_64__)
constexpr const char* kMultiarch = "x86_64-linux-gnu";
#else
constexpr const char* kMultiarch = "aarch64-linux-gnu";
#endif

// Where a folder that somebody names may have the library: itself, a toolkit, `pip install
// --target`.
constexpr const char* kBelowExplicit[] = {"", "lib64", "lib", "nvidia/cu13/lib",
                                          "nvidia/cuda_nvrtc/lib"};

struct CloseLibrary {
  void operator()(void* library) const noexcept { ::dlclose(library); }
};
using UniqueLibrary = std::unique_ptr<void, CloseLibrary>;

std::string path_of(void* library) {
  const link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr) return {};
  return map->l_name;
}

// dlopen with RTLD_NOLOAD would tell too, but goes through all folders of the loader before it
// does.
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

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
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

// "cuda-12.9" before "cuda-12.8" before "cuda-9.2"; plain "cuda", the administrator's choice,
// first.
std::vector<fs::path> toolkits_in_usr_local() {
  std::vector<std::pair<std::pair<int, int>, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator item("/usr/local", error), end; !error && item != end;
       item.increment(error)) {
    const std::string name = item->path().filename().string();
    if (!name.starts_with("cuda")) continue;
    int major = name == "cuda" ? 1 << 20 : 0;
    int minor = 0;
    const char* last = name.data() + name.size();
    if (name.starts_with("cuda-")) {
      const auto rest = std::from_chars(name.data() + 5, last, major);
      if (rest.ptr != last && *rest.ptr == '.') std::from_chars(rest.ptr + 1, last, minor);
    }
    found.push_back({{major, minor}, item->path()});
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<fs::path> toolkits;
  for (auto& [version, path] : found) toolkits.push_back(std::move(path));
  return toolkits;
}

// The dynamic loader's own folders, as far as they can be known without loading anything.
std::vector<fs::path> system_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator item("/etc/ld.so.conf.d", error), end; !error && item != end;
       item.increment(error)) {
    if (item->path().extension() != ".conf") continue;
    std::ifstream file(item->path());
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with('/')) folders.emplace_back(line.substr(0, line.find_first_of(" \t#")));
    }
  }
  std::sort(folders.begin(), folders.end());
  const std::string multiarch = kMultiarch;
  for (const auto& folder :
       {"/usr/lib/" + multiarch, "/lib/" + multiarch, std::string("/usr/lib64"),
        std::string("/usr/lib"), std::string("/usr/local/lib")}) {
    folders.emplace_back(folder);
  }
  return folders;
}

// As far as the name behind all links tells: "libnvrtc.so.12" may be any of 12.x.
bool is_outdated(const fs::path& file) {
  if (file.filename() == kFileNames[0]) return false;  // the usual case needs no links resolved
  std::error_code error;
  const auto version = version_in_name(fs::canonical(file, error).filename().string());
  return version.has_value() && !is_supported_version(version->first, version->second);
}

// Each function looks at one kind of place and is true when the search is over.
class Search {
 public:
  bool at_explicit(const fs::path& path) {
    skip_outdated_ = false;  // asked for by name: its version is for the loader to refuse
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (at_file(path)) return true;
      const bool exists = fs::exists(path, error);
      return note(path.string() + (exists ? " (no shared library of this machine)" : ""));
    }
    for (const char* below : kBelowExplicit) {
      if (in_folder(*below == '\0' ? path : path / below)) return true;
    }
    return false;
  }

  bool everywhere() {
    if (const std::string loaded = loaded_copy(); !loaded.empty() && at_file(loaded)) return true;
    for (const auto& folder : split(environment("LD_LIBRARY_PATH"), ":;")) {
      if (in_folder(folder)) return true;
    }
    if (beside_this_library()) return true;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
      if (const std::string home = environment(variable); !home.empty() && in_toolkit(home)) {
        return true;
      }
    }
    for (const auto& toolkit : toolkits_in_usr_local()) {
      if (in_toolkit(toolkit)) return true;
    }
    return in_system_folders() || in_the_loader();
  }

  SearchResult result() && {
    if (!result_.found) result_.found = std::move(outdated_);
    return std::move(result_);
  }

 private:
  bool note(std::string place) {
    auto& places = result_.looked_in;
    if (std::find(places.begin(), places.end(), place) == places.end()) {
      places.push_back(std::move(place));
    }
    return false;
  }

  bool at_file(const fs::path& path) {
    if (::access(path.c_str(), R_OK) != 0) return false;
    std::error_code error;
    const fs::path file = fs::absolute(path, error);
    auto id = elf_id(file);
    if (!id) return false;
    CompilerId found{file, std::move(*id)};
    if (skip_outdated_ && is_outdated(file)) {
      // Kept for the error message, in case that there is no other.
      if (!outdated_) outdated_ = std::move(found);
      return false;
    }
    result_.found = std::move(found);
    return true;
  }

  bool in_folder(const fs::path& folder) {
    note(folder.string());
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

  bool beside_this_library() {
    Dl_info info;
    if (::dladdr(reinterpret_cast<const void*>(&find_nvrtc), &info) == 0) return false;
    const fs::path folder = fs::path(info.dli_fname).parent_path();
    return !folder.empty() && in_folder(folder);
  }

  bool in_system_folders() {
    const std::vector<fs::path> folders = system_folders();
    for (const auto& folder : folders) note(folder.string());
    for (const char* name : kFileNames) {  // newest first over all folders
      for (const auto& folder : folders) {
        if (at_file(folder / name)) return true;
      }
    }
    return false;
  }

  // The loader knows more (the run path of the program, its cache), and can be asked only by
  // loading. A copy found so stays loaded: it is the one to be used.
  bool in_the_loader() {
    note("the dynamic loader");
    return std::any_of(kFileNames.begin(), kFileNames.end(), [&](const char* name) {
      const UniqueLibrary library(::dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE));
      return library != nullptr && at_file(path_of(library.get()));
    });
  }

  bool skip_outdated_ = true;
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
