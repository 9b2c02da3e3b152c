#include "tilejit/why.hpp"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "front/compiler_impl.hpp"
#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/folder.hpp"

namespace tilejit {
namespace {

using nlohmann::ordered_json;

constexpr int kDeepest = 64;  // levels of JSON

using Fields = std::map<std::string, std::string>;  // values by path

ordered_json parse_object(std::string_view text) {
  bool too_deep = false;
  const auto watch = [&](int depth, ordered_json::parse_event_t, ordered_json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  ordered_json json = ordered_json::parse(text, watch, false);
  return json.is_object() && !too_deep ? json : ordered_json::object();
}

std::string value_text(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void flatten(const ordered_json& value, const std::string& path, Fields& fields) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [name, member] : value.items()) {
      flatten(member, path.empty() ? name : path + "." + name, fields);
    }
  } else if (value.is_array() && !value.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      flatten(value[i], path + "[" + std::to_string(i) + "]", fields);
    }
  } else {
    fields[path] = value_text(value);
  }
}

Fields fields_of(const ordered_json& document) {
  Fields fields;
  flatten(document, "", fields);
  return fields;
}

std::string value_of(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "(none)" : found->second;
}

std::vector<KeyDifference> differences(const Fields& wanted, const Fields& other) {
  std::set<std::string> names;
  for (const auto& [name, value] : wanted) names.insert(name);
  for (const auto& [name, value] : other) names.insert(name);
  std::vector<KeyDifference> result;
  for (const std::string& name : names) {
    KeyDifference difference{name, value_of(wanted, name), value_of(other, name)};
    if (difference.wanted != difference.other) result.push_back(std::move(difference));
  }
  return result;
}

/// The part of an entry's metadata that belongs to the key.
Fields fields_of_key(const ordered_json& metadata, const ordered_json& wanted) {
  ordered_json part = ordered_json::object();
  for (const auto& [name, value] : wanted.items()) {
    if (metadata.contains(name)) part[name] = metadata[name];
  }
  return fields_of(part);
}

std::string member_text(const ordered_json& metadata, const char* name) {
  const auto member = metadata.find(name);
  return member != metadata.end() && member->is_string() ? member->get<std::string>() : "?";
}

/// The wanted key, and the nearest entry so far.
struct Search {
  ordered_json wanted;
  Fields fields;
  std::optional<NearestEntry> best = {};

  template <typename Place>
  void look_into(const Place& place, const std::string& path) {
    for (const cache::EntryInfo& info : place.list()) {
      const ordered_json metadata = parse_object(place.metadata(info.key).value_or(""));
      auto differ = differences(fields, fields_of_key(metadata, wanted));
      if (best && best->differences.size() <= differ.size()) continue;
      best = {info.key,
              member_text(metadata, "kernel") + " for " + member_text(metadata, "target") + " in " +
                  path,
              std::move(differ)};
    }
  }
};

void look_into(const std::filesystem::path& path, const Options& options, Search& search) {
  const cache::Trust trust = front::trust_of(options);
  const std::string name = std::filesystem::absolute(path).string();
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    const auto signer = front::bundle_signer(options.cache_bundle_key);
    search.look_into(cache::Bundle(path, trust, signer), name);
  } else {
    search.look_into(cache::Folder(path, trust), name);
  }
}

}  // namespace

std::map<std::string, std::string> key_fields(std::string_view document) {
  return fields_of(parse_object(document));
}

std::vector<KeyDifference> key_differences(std::string_view wanted, std::string_view other) {
  return differences(key_fields(wanted), key_fields(other));
}

std::optional<NearestEntry> nearest_entry(const Compiler& compiler, const KeyExplanation& wanted) {
  const Options& options = compiler.options();
  Search search{.wanted = parse_object(wanted.fields), .fields = {}};
  search.fields = fields_of(search.wanted);
  std::vector<std::filesystem::path> paths = options.cache_path;
  if (options.cache_folder) paths.insert(paths.begin(), *options.cache_folder);
  for (const std::filesystem::path& path : paths) {
    try {
      look_into(path, options, search);
    } catch (const std::runtime_error&) {
      // The compiler warned of it when it was created.
    }
  }
  return std::move(search.best);
}

}  // namespace tilejit
