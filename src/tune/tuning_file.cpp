#include <algorithm>
#include <cstring>
#include <set>

#include <nlohmann/json.hpp>

#include "spec/tuning.hpp"
#include "tilejit/cache/files.hpp"
#include "tilejit/cache/publish.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {
namespace {

using spec::Json;

constexpr int kVersion = 1;  // version of a line's format
constexpr std::uintmax_t kLargestFile = 64u << 20;

/// Joins fields by newlines, which JSON texts in a line of the file cannot contain unescaped.
std::string key_of(std::string_view operation_class, const Target& target,
                   std::string_view device) {
  std::string key(operation_class);
  ((key += '\n') += to_string(target)) += '\n';
  return key += device;
}

std::string text_of(const TunedEntry& entry) {
  const Json json = {{"tilejit_tuning", kVersion},
                     {"class", entry.operation_class},
                     {"target", to_string(entry.target)},
                     {"device", entry.device},
                     {"tuning", spec::tuning_json(entry.tuning)},
                     {"milliseconds", entry.milliseconds},
                     {"default_milliseconds", entry.default_milliseconds},
                     {"name", entry.name}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Throws Error, or what nlohmann's JSON throws for a member that is missing or of the wrong type.
TunedEntry entry_of(const Json& json) {
  if (json.at("tilejit_tuning") != kVersion) {
    throw Error(ErrorCode::invalid_argument, "its version is not " + std::to_string(kVersion));
  }
  spec::Problems problems;
  TunedEntry entry{.operation_class = json.at("class").get<std::string>(),
                   .target = parse_target(json.at("target").get<std::string>()),
                   .device = json.at("device").get<std::string>(),
                   .tuning = spec::read_tuning(json.at("tuning"), "/tuning", problems),
                   .milliseconds = json.at("milliseconds").get<double>(),
                   .default_milliseconds = json.at("default_milliseconds").get<double>(),
                   .name = json.at("name").get<std::string>()};
  spec::check_tuning(entry.tuning, problems);
  problems.throw_if_any();
  return entry;
}

[[noreturn]] void refuse_line(const std::string& name, std::size_t line, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              "line " + std::to_string(line) + " of " + name + " is no entry of a tuning file: " +
                  why + "; remove the file, or write it anew with tilejit tune",
              name);
}

}  // namespace

TuningFile TuningFile::parse(std::string_view text, const std::string& name) {
  TuningFile file;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      file.add(entry_of(spec::parse_json(line)));
    } catch (const Error& error) {
      refuse_line(name, number, error.what());
    } catch (const Json::exception& error) {
      refuse_line(name, number, spec::fault_text(error));
    }
  }
  return file;
}

TuningFile TuningFile::load(const std::filesystem::path& path, cache::Trust trust) {
  using Outcome = cache::FileText::Outcome;
  const cache::FileText file = cache::read_file(path, {.most_bytes = kLargestFile, .trust = trust});
  if (file.outcome == Outcome::missing) return {};
  if (file.outcome == Outcome::read) return parse(file.bytes, path.string());
  throw Error(ErrorCode::io,
              path.string() + " is not read as a tuning file: " + file.reason +
                  "; name another one, or none",
              path.string());
}

const TunedEntry* TuningFile::find(std::string_view operation_class, const Target& target,
                                   std::string_view device) const {
  if (entries_.empty()) return nullptr;
  const auto exact = entries_.find(key_of(operation_class, target, device));
  if (exact != entries_.end()) return &exact->second;
  const std::string any = key_of(operation_class, target, {});
  const auto first = entries_.lower_bound(any);
  return first != entries_.end() && first->first.starts_with(any) ? &first->second : nullptr;
}

std::vector<std::string> TuningFile::devices(const Target& target) const {
  std::set<std::string> names;
  for (const auto& [key, entry] : entries_) {
    if (entry.target == target) names.insert(entry.device);
  }
  return {names.begin(), names.end()};
}

void TuningFile::add(TunedEntry entry) {
  std::string key = key_of(entry.operation_class, entry.target, entry.device);
  entries_.insert_or_assign(std::move(key), std::move(entry));
}

void TuningFile::merge(const TuningFile& other) {
  for (const auto& [key, entry] : other.entries_) entries_.insert_or_assign(key, entry);
}

std::vector<TunedEntry> TuningFile::entries() const {
  std::vector<TunedEntry> entries;
  for (const auto& [key, entry] : entries_) entries.push_back(entry);
  return entries;
}

std::string TuningFile::to_string() const {
  std::string text;
  for (const auto& [key, entry] : entries_) (text += text_of(entry)) += '\n';
  return text;
}

void TuningFile::publish(const std::filesystem::path& path) const {
  if (const int error = cache::publish_file(path.string(), to_string())) {
    throw Error(ErrorCode::io, path.string() + " could not be written: " + std::strerror(error),
                path.string());
  }
}

}  // namespace tilejit
