#include "tilejit/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tilejit/error.hpp"

namespace tilejit {
namespace {

/// The variable's value; empty where it is unset, since an empty one means the same.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::optional<std::filesystem::path> default_cache_folder() {
  const std::string chosen = variable("TILEJIT_CACHE_DIR");
  if (chosen == "off") return std::nullopt;
  if (!chosen.empty()) return chosen;
  // The XDG Base Directory Specification: a relative path is to be ignored.
  const std::filesystem::path base = variable("XDG_CACHE_HOME");
  if (base.is_absolute()) return base / "tilejit";
  const std::filesystem::path home = variable("HOME");
  if (home.is_absolute()) return home / ".cache" / "tilejit";
  return std::nullopt;
}

/// The parts of a list between colons; empty ones are no folders.
std::vector<std::filesystem::path> path_list(const std::string& text) {
  std::vector<std::filesystem::path> paths;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) paths.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

bool flag(const char* name) {
  const std::string text = variable(name);
  if (text.empty() || text == "0") return false;
  if (text == "1") return true;
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + " is '" + text.substr(0, 40) + "'; set it to 0 or 1", name);
}

int default_device() {
  const std::string text = variable("TILEJIT_DEVICE");
  if (text.empty()) return 0;
  int ordinal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  if (error == std::errc() && end == text.data() + text.size() && ordinal >= 0) return ordinal;
  throw Error(ErrorCode::invalid_argument,
              "TILEJIT_DEVICE is '" + text.substr(0, 40) +
                  "'; set it to the number of a device, counted from 0",
              "TILEJIT_DEVICE");
}

}  // namespace

Options Options::from_env() {
  return {.cache_folder = default_cache_folder(),
          .cache_path = path_list(variable("TILEJIT_CACHE_PATH")),
          .cache_trust_anyone = flag("TILEJIT_CACHE_TRUST_ANYONE"),
          .nvrtc_path = variable("TILEJIT_NVRTC"),
          .device = default_device()};
}

}  // namespace tilejit
