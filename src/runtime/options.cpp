#include "tilejit/options.hpp"

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

std::optional<std::filesystem::path> default_tuning_file() {
  const std::string chosen = variable("TILEJIT_TUNING");
  if (chosen == "off") return std::nullopt;
  if (!chosen.empty()) return chosen;
  const auto folder = default_cache_folder();
  return folder ? std::optional(*folder / "tuning.jsonl") : std::nullopt;
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
          .tuning_file = default_tuning_file(),
          .nvrtc_path = variable("TILEJIT_NVRTC"),
          .device = default_device()};
}

}  // namespace tilejit
