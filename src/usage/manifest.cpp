#include "tilejit/manifest.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "operation/descriptor.hpp"
#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "spec/specs.hpp"
#include "tilejit/cache/entry.hpp"
#include "tilejit/cache/files.hpp"
#include "tilejit/error.hpp"
#include "usage/manifest_id.hpp"

namespace tilejit {
namespace {

using spec::Json;

constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;

/// Combines the lines of a manifest.
class Reader {
 public:
  explicit Reader(const SpecOptions& options) : options_(options) {}

  void read(std::string_view line, std::size_t number, bool torn) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    try {
      const Json json = spec::parse_json(line);
      if (json.is_object() && json.contains("uses") && !json.contains("spec")) {
        add_uses(json["uses"]);
      } else {
        add_entry(json);
      }
    } catch (const std::exception& error) {
      if (!torn) faults_.push_back("line " + std::to_string(number) + ": " + error.what());
    }
  }

  [[nodiscard]] Manifest take() {
    Manifest manifest{.entries = std::move(entries_), .faults = std::move(faults_)};
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const auto uses = uses_.find(ids_[i]);
      manifest.entries[i].uses = uses == uses_.end() ? 1 : std::max<std::uint64_t>(1, uses->second);
    }
    return manifest;
  }

 private:
  void add_entry(const Json& json) {
    if (!json.is_object() || !json.contains("spec") || !json.contains("target") ||
        !json["target"].is_string()) {
      throw Error(
          ErrorCode::invalid_spec,
          "not {\"id\": ..., \"target\": ..., \"spec\": {...}}, as TILEJIT_RECORD writes it");
    }
    const Target target = parse_target(json["target"].get<std::string>());
    const std::string text = json["spec"].dump();
    std::string id = usage::manifest_id(text, target);
    if (known_.contains(id)) return;
    spec::Problems problems;
    Operation op = spec::read_operation(json["spec"], "", options_, problems);
    problems.throw_if_any();
    entries_.push_back({.op = std::move(op), .target = target});
    known_.insert(id);
    ids_.push_back(std::move(id));
  }

  void add_uses(const Json& uses) {
    for (const auto& [id, count] : uses.items()) {
      if (count.is_number_unsigned()) uses_[id] += count.get<std::uint64_t>();
    }
  }

  const SpecOptions& options_;
  std::vector<ManifestEntry> entries_;
  std::vector<std::string> ids_, faults_;
  std::unordered_set<std::string> known_;
  std::unordered_map<std::string, std::uint64_t> uses_;
};

}  // namespace

namespace usage {

std::string manifest_id(std::string_view spec_text, const Target& target) {
  return cache::sha256_hex(to_string(target) + ' ' + std::string(spec_text)).substr(0, kIdDigits);
}

}  // namespace usage

std::string manifest_line(const Operation& op, const Target& target) {
  const std::string text = op.descriptor().json();
  return "{\"id\":\"" + usage::manifest_id(text, target) + "\",\"target\":\"" + to_string(target) +
         "\",\"spec\":" + text + '}';
}

Manifest parse_manifest(std::string_view text, const SpecOptions& options) {
  Reader reader(options);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    reader.read(text.substr(0, end), number, end == std::string_view::npos);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return reader.take();
}

Manifest load_manifest(const std::filesystem::path& path, const SpecOptions& options) {
  const cache::FileText file = cache::read_file(path, {.most_bytes = kLargestFile});
  if (file.outcome == cache::FileText::Outcome::read) return parse_manifest(file.bytes, options);
  throw Error(ErrorCode::io,
              path.string() + " could not be read as a manifest of at most 1 GiB: " + file.reason +
                  "; check the path",
              path.string());
}

bool is_manifest(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  const Json json = Json::parse(line, nullptr, false);
  return json.is_object() && (json.contains("spec") || json.contains("uses"));
}

}  // namespace tilejit
