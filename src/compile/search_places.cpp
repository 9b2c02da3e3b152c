#include "compile/search_places.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "compile/toolkit.hpp"
#include "compile/unique_library.hpp"

namespace tilejit::compile {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr const char* kMultiarch = "x86_64-linux-gnu";
#else
constexpr const char* kMultiarch = "aarch64-linux-gnu";
#endif

constexpr const char* kWheelFolders[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};

using Version = std::pair<int, int>;

// "12.9" is {12, 9}, "3" is {3, 0}, anything else {0, 0}.
Version version_of(std::string_view text) {
  Version version{0, 0};
  const char* last = text.data() + text.size();
  const auto rest = std::from_chars(text.data(), last, version.first);
  if (rest.ptr != last && *rest.ptr == '.') std::from_chars(rest.ptr + 1, last, version.second);
  return version;
}

// The entries of a folder whose names start with `prefix`, ranked by the rest of the name, highest
// first.
std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix,
                              const std::function<Version(std::string_view)>& rank) {
  std::vector<std::pair<Version, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator item(folder, error), end; !error && item != end;
       item.increment(error)) {
    const std::string name = item->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    found.emplace_back(rank(std::string_view(name).substr(prefix.size())), item->path());
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<fs::path> paths;
  for (auto& [version, path] : found) paths.push_back(std::move(path));
  return paths;
}

// The library, or, if it is linked statically, the program that contains this function.
UniqueLibrary this_object() {
  Dl_info info;
  link_map* map = nullptr;
  const int known = ::dladdr1(reinterpret_cast<const void*>(&run_path_folders), &info,
                              reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  if (known == 0) return nullptr;
  const bool is_program = map == nullptr || *map->l_name == '\0';
  return UniqueLibrary(::dlopen(is_program ? nullptr : map->l_name, RTLD_LAZY | RTLD_NOLOAD));
}

fs::path user_base() {
  if (const std::string base = environment("PYTHONUSERBASE"); !base.empty()) return base;
  const std::string home = environment("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".local";
}

}  // namespace

std::vector<fs::path> toolkits_in_usr_local() {
  return entries("/usr/local", "cuda", [](std::string_view rest) {
    if (rest.empty()) return Version{1 << 20, 0};
    return rest.starts_with('-') ? version_of(rest.substr(1)) : Version{0, 0};
  });
}

std::vector<fs::path> system_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator item("/etc/ld.so.conf.d", error), end; !error && item != end;
       item.increment(error)) {
    if (item->path().extension() != ".conf" || !item->is_regular_file(error)) continue;
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

std::vector<fs::path> run_path_folders() {
  const UniqueLibrary object = this_object();
  Dl_serinfo size;
  if (!object || ::dlinfo(object.get(), RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  const auto bytes =
      std::make_unique<std::max_align_t[]>(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* info = reinterpret_cast<Dl_serinfo*>(bytes.get());
  if (::dlinfo(object.get(), RTLD_DI_SERINFOSIZE, info) != 0 ||
      ::dlinfo(object.get(), RTLD_DI_SERINFO, info) != 0) {
    return {};
  }
  std::vector<fs::path> folders;
  for (unsigned i = 0; i < info->dls_cnt; ++i) {
    const fs::path folder = info->dls_serpath[i].dls_name;
    // CMake's padding of the run path means the current folder.
    if (folder.is_absolute()) folders.push_back(folder);
  }
  return folders;
}

std::vector<fs::path> python_prefixes() {
  std::vector<fs::path> prefixes = {environment("VIRTUAL_ENV"), user_base(), "/usr/local", "/usr"};
  std::erase(prefixes, fs::path());
  return prefixes;
}

// Debian names its folders dist-packages. The lib64 of a virtual environment is a link to lib.
std::vector<fs::path> python_packages(const fs::path& prefix) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const char* library : {"lib", "lib64"}) {
    if (fs::is_symlink(prefix / library, error)) continue;
    for (const fs::path& python : entries(prefix / library, "python3", [](std::string_view rest) {
           return rest.starts_with('.') ? version_of(rest.substr(1)) : Version{0, 0};
         })) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        if (fs::is_directory(python / packages, error)) folders.push_back(python / packages);
      }
    }
  }
  return folders;
}

std::span<const char* const> wheel_folders() noexcept {
  return kWheelFolders;
}

}  // namespace tilejit::compile
