#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "capi/parse.hpp"
#include "core/json_pointer.hpp"
#include "tilejit/error.hpp"

namespace tilejit::capi {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& name, const std::string& wanted) {
  throw Error(ErrorCode::invalid_argument, "the option " + name + " takes " + wanted,
              core::pointer_to("", name));
}

/// A member of the options, together with its name.
struct Member {
  const std::string& name;
  const json& value;

  [[nodiscard]] std::string text(const char* wanted = "a text") const {
    if (!value.is_string()) refuse(name, wanted);
    return value.get<std::string>();
  }
  [[nodiscard]] std::string text_or_null() const {
    return value.is_null() ? std::string() : text("a text or null");
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    if (!value.is_array()) refuse(name, "an array of texts");
    std::vector<std::string> all;
    for (const json& item : value) {
      if (!item.is_string()) refuse(name, "an array of texts");
      all.push_back(item.get<std::string>());
    }
    return all;
  }
  [[nodiscard]] bool flag() const {
    if (!value.is_boolean()) refuse(name, "true or false");
    return value.get<bool>();
  }
  [[nodiscard]] std::uint64_t count(std::uint64_t most) const {
    const std::string wanted = "an integer from 0 to " + std::to_string(most);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) refuse(name, wanted);
    return value.get<std::uint64_t>();
  }
};

std::optional<std::filesystem::path> path_or_nothing(const Member& member) {
  const std::string text = member.text_or_null();
  return text.empty() ? std::nullopt : std::optional<std::filesystem::path>(text);
}

cache::RemoteMode remote_mode(const Member& member) {
  const std::string text = member.text();
  if (text == "read-write") return cache::RemoteMode::read_write;
  if (text == "read-only") return cache::RemoteMode::read_only;
  if (text == "must-hit") return cache::RemoteMode::must_hit;
  refuse(member.name, "read-write, read-only or must-hit");
}

CacheKeep keep(const Member& member) {
  CacheKeep keep;
  for (const std::string& word : member.texts()) {
    if (word == "source") {
      keep.source = true;
    } else if (word == "ptx") {
      keep.ptx = true;
    } else if (word == "log") {
      keep.log = true;
    } else if (word == "sass") {
      keep.sass = true;
    } else {
      refuse(member.name, "an array of some of source, ptx, log, sass");
    }
  }
  return keep;
}

CompileEffort effort(const Member& member) {
  const std::string text = member.text();
  if (text == "full") return CompileEffort::full;
  if (text == "quick") return CompileEffort::quick;
  if (text == "tiered") return CompileEffort::tiered;
  refuse(member.name, "full, quick or tiered");
}

MissPolicy miss_policy(const Member& member) {
  if (const auto policy = parse_miss_policy(member.text())) return *policy;
  refuse(member.name, "allow, warn, error or fallback");
}

struct Row {
  std::string_view name;
  void (*set)(Options&, const Member&);
};
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kMostTime = std::uint64_t{1} << 33;  // in seconds or milliseconds
constexpr std::uint64_t kMostJobs = 4096;
const Row kRows[] = {
    {"cache_folder", [](Options& o, const Member& m) { o.cache_folder = path_or_nothing(m); }},
    {"cache_path",
     [](Options& o, const Member& m) {
       const std::vector<std::string> all = m.texts();
       o.cache_path.assign(all.begin(), all.end());
     }},
    {"cache_copy_after_ms",
     [](Options& o, const Member& m) {
       o.cache_copy_after = std::chrono::milliseconds(m.count(kMostTime));
     }},
    {"cache_bundle_key",
     [](Options& o, const Member& m) { o.cache_bundle_key = m.text_or_null(); }},
    {"cache_trust_anyone", [](Options& o, const Member& m) { o.cache_trust_anyone = m.flag(); }},
    {"cache_remote", [](Options& o, const Member& m) { o.cache_remote.url = m.text_or_null(); }},
    {"cache_remote_mode",
     [](Options& o, const Member& m) { o.cache_remote.mode = remote_mode(m); }},
    {"cache_memory_bytes",
     [](Options& o, const Member& m) { o.cache_memory_bytes = m.count(kMostBytes); }},
    {"cache_max_bytes",
     [](Options& o, const Member& m) { o.cache_max_bytes = m.count(kMostBytes); }},
    {"cache_max_age_seconds",
     [](Options& o, const Member& m) {
       o.cache_max_age = std::chrono::seconds(m.count(kMostTime));
     }},
    {"cache_keep", [](Options& o, const Member& m) { o.cache_keep = keep(m); }},
    {"tuning_file", [](Options& o, const Member& m) { o.tuning_file = path_or_nothing(m); }},
    {"nvrtc_path", [](Options& o, const Member& m) { o.nvrtc_path = m.text_or_null(); }},
    {"line_info", [](Options& o, const Member& m) { o.line_info = m.flag(); }},
    {"compile_effort", [](Options& o, const Member& m) { o.compile_effort = effort(m); }},
    {"deterministic", [](Options& o, const Member& m) { o.deterministic = m.flag(); }},
    {"compile_jobs",
     [](Options& o, const Member& m) { o.compile_jobs = static_cast<int>(m.count(kMostJobs)); }},
    {"compile_threads",
     [](Options& o, const Member& m) { o.compile_threads = static_cast<int>(m.count(kMostJobs)); }},
    {"compile_queue",
     [](Options& o, const Member& m) { o.compile_queue = m.count(std::uint64_t{1} << 32); }},
    {"worker_path", [](Options& o, const Member& m) { o.worker_path = m.text_or_null(); }},
    {"worker_timeout_ms",
     [](Options& o, const Member& m) {
       o.worker_timeout = std::chrono::milliseconds(m.count(kMostTime));
     }},
    {"worker_memory_bytes",
     [](Options& o, const Member& m) { o.worker_memory_bytes = m.count(kMostBytes); }},
    {"miss_policy", [](Options& o, const Member& m) { o.miss_policy = miss_policy(m); }},
    {"compile_in_capture", [](Options& o, const Member& m) { o.compile_in_capture = m.flag(); }},
    {"record", [](Options& o, const Member& m) { o.record = m.text_or_null(); }},
    {"slow_compile_ms",
     [](Options& o, const Member& m) {
       o.slow_compile = std::chrono::milliseconds(m.count(kMostTime));
     }},
    {"allow_source", [](Options& o, const Member& m) { o.allow_source = m.flag(); }},
    {"device", [](Options& o, const Member& m) { o.device = static_cast<int>(m.count(1023)); }},
};

void set(Options& options, const Member& member) {
  std::string known;
  for (const Row& row : kRows) {
    if (row.name == member.name) return row.set(options, member);
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no option '" + member.name.substr(0, 40) + "'; there are " + known,
              core::pointer_to("", member.name));
}

}  // namespace

Options parse_options(const char* text) {
  Options options = Options::from_env();
  if (text == nullptr) return options;
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) {
    throw Error(ErrorCode::invalid_argument,
                "the options are no JSON object; pass {\"device\": 0} or the like, or NULL");
  }
  for (const auto& [name, value] : document.items()) set(options, {name, value});
  return options;
}

}  // namespace tilejit::capi
