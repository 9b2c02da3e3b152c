#include "tilejit/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "front/log.hpp"
#include "tilejit/cache/units.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

/// The value of the variable. Empty if it is unset, since an empty value means the same.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::optional<std::filesystem::path> default_cache_folder() {
  const std::string chosen = variable("TILEJIT_CACHE_DIR");
  if (chosen == "off") return std::nullopt;
  if (!chosen.empty()) return chosen;
  // The XDG Base Directory Specification says to ignore relative paths.
  const std::filesystem::path base = variable("XDG_CACHE_HOME");
  if (base.is_absolute()) return base / "tilejit";
  const std::filesystem::path home = variable("HOME");
  if (home.is_absolute()) return home / ".cache" / "tilejit";
  return std::nullopt;
}

/// The folders in a list separated by colons. Empty parts are skipped.
std::vector<std::filesystem::path> path_list(const std::string& text) {
  std::vector<std::filesystem::path> paths;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) paths.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

[[noreturn]] void refuse(const char* name, const std::string& text, const char* advice) {
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + " is '" + text.substr(0, 40) + "'; set it to " + advice, name);
}

std::uint64_t bytes(const char* name, std::uint64_t unset) {
  const std::string text = variable(name);
  if (text.empty()) return unset;
  if (const auto value = cache::parse_bytes(text)) return *value;
  refuse(name, text, "bytes, such as 500M or 4G, or 0 for no bound");
}

std::chrono::seconds age(const char* name) {
  const std::string text = variable(name);
  if (text.empty()) return {};
  if (const auto value = cache::parse_age(text)) return *value;
  refuse(name, text, "a time, such as 12h or 30d, or 0 for no bound");
}

CacheKeep keep(const char* name) {
  CacheKeep keep;
  std::string rest = variable(name);
  while (!rest.empty()) {
    const std::string word = rest.substr(0, rest.find(','));
    rest.erase(0, word.size() + 1);
    const bool all = word == "all";
    if (!all && word != "source" && word != "ptx" && word != "log" && word != "sass") {
      refuse(name, word, "some of source,ptx,log,sass, or to all");
    }
    keep.source = keep.source || all || word == "source";
    keep.ptx = keep.ptx || all || word == "ptx";
    keep.log = keep.log || all || word == "log";
    keep.sass = keep.sass || all || word == "sass";
  }
  return keep;
}

std::chrono::microseconds copy_after(const char* name, std::chrono::microseconds unset) {
  const std::string text = variable(name);
  if (text.empty()) return unset;
  if (text == "off") return std::chrono::microseconds::max();
  std::uint32_t milliseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  if (error == std::errc() && end == text.data() + text.size()) {
    return std::chrono::milliseconds(milliseconds);
  }
  refuse(name, text, "milliseconds, such as 1, to 0 for every hit, or to off");
}

bool flag(const char* name, bool unset = false) {
  const std::string text = variable(name);
  if (text.empty()) return unset;
  if (text == "0") return false;
  if (text == "1") return true;
  refuse(name, text, "0 or 1");
}

cache::RemoteOptions remote() {
  try {
    return cache::remote_options_from(variable);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::invalid_argument, error.what(), "TILEJIT_CACHE_REMOTE");
  }
}

std::optional<std::filesystem::path> default_tuning_file() {
  const std::string chosen = variable("TILEJIT_TUNING");
  if (chosen == "off") return std::nullopt;
  if (!chosen.empty()) return chosen;
  const auto folder = default_cache_folder();
  return folder ? std::optional(*folder / "tuning.jsonl") : std::nullopt;
}

/// Reads an integer of at least 0.
int number(const char* name, int unset, const char* advice) {
  const std::string text = variable(name);
  if (text.empty()) return unset;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0) return value;
  refuse(name, text, advice);
}

MissPolicy miss_policy_of(const char* name) {
  const std::string text = variable(name);
  if (text.empty()) return MissPolicy::allow;
  if (const auto policy = parse_miss_policy(text)) return *policy;
  refuse(name, text, "allow, warn, error or fallback");
}

CompileEffort effort(const char* name) {
  const std::string text = variable(name);
  if (text.empty() || text == "full") return CompileEffort::full;
  if (text == "quick") return CompileEffort::quick;
  if (text == "tiered") return CompileEffort::tiered;
  refuse(name, text, "full, quick or tiered");
}

std::chrono::seconds time_limit(const char* name, std::chrono::milliseconds unset) {
  const std::string text = variable(name);
  if (text.empty()) return std::chrono::duration_cast<std::chrono::seconds>(unset);
  const auto value = cache::parse_age(text);
  if (value && value->count() > 0) return *value;
  refuse(name, text, "a time for one kernel, such as 60s or 5m");
}

// Without this warning, nobody would know why a service without a home compiles at every start.
void warn_once_of_no_folder() {
  static std::once_flag once;
  std::call_once(once, [] {
    front::warn(
        "kernels are kept in memory only, as neither XDG_CACHE_HOME nor HOME names a folder; set "
        "TILEJIT_CACHE_DIR to one, or to off");
  });
}

}  // namespace

Options Options::from_env() {
  if (!default_cache_folder() && variable("TILEJIT_CACHE_DIR") != "off") warn_once_of_no_folder();
  return {
      .cache_folder = default_cache_folder(),
      .cache_path = path_list(variable("TILEJIT_CACHE_PATH")),
      .cache_copy_after = copy_after("TILEJIT_CACHE_COPY_AFTER_MS", Options().cache_copy_after),
      .cache_bundle_key = variable("TILEJIT_CACHE_BUNDLE_KEY"),
      .cache_trust_anyone = flag("TILEJIT_CACHE_TRUST_ANYONE"),
      .cache_remote = remote(),
      .cache_max_bytes = bytes("TILEJIT_CACHE_MAX_SIZE", Options().cache_max_bytes),
      .cache_max_age = age("TILEJIT_CACHE_MAX_AGE"),
      .cache_keep = keep("TILEJIT_CACHE_KEEP"),
      .tuning_file = default_tuning_file(),
      .nvrtc_path = variable("TILEJIT_NVRTC"),
      .line_info = flag("TILEJIT_LINE_INFO"),
      .compile_effort = effort("TILEJIT_COMPILE_EFFORT"),
      .deterministic = flag("TILEJIT_DETERMINISTIC"),
      .compile_jobs = number("TILEJIT_COMPILE_JOBS", Options().compile_jobs,
                             "how many kernels are compiled at a time, or 0 for all processors"),
      .compile_threads = number("TILEJIT_COMPILE_THREADS", Options().compile_threads,
                                "how many of them in this process"),
      .worker_path = variable("TILEJIT_WORKER"),
      .worker_timeout = time_limit("TILEJIT_WORKER_TIMEOUT", Options().worker_timeout),
      .worker_memory_bytes = bytes("TILEJIT_WORKER_MEMORY", Options().worker_memory_bytes),
      .miss_policy = miss_policy_of("TILEJIT_MISS"),
      .compile_in_capture = flag("TILEJIT_COMPILE_IN_CAPTURE", Options().compile_in_capture),
      .record = variable("TILEJIT_RECORD"),
      .slow_compile = std::chrono::milliseconds(
          number("TILEJIT_SLOW_COMPILE_MS", static_cast<int>(Options().slow_compile.count()),
                 "the milliseconds from which on a compile is slow, or 0 for none")),
      .on_slow_compile = {},
      .allow_source = flag("TILEJIT_ALLOW_SOURCE"),
      .device = number("TILEJIT_DEVICE", 0, "the number of a device, counted from 0")};
}

}  // namespace tilejit
