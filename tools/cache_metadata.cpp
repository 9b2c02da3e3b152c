#include "cache_metadata.hpp"

#include <set>
#include <utility>

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

constexpr int kDeepest = 64;  // levels; whoever prints a value goes down as many

// A value prints as it is read; bytes that are no UTF-8 do not end the command.
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

std::string value_of(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "(none)" : found->second;
}

}  // namespace

ordered_json parse_metadata(std::string_view text) {
  bool too_deep = false;
  const auto watch = [&](int depth, ordered_json::parse_event_t, ordered_json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  ordered_json json = ordered_json::parse(text, watch, false);
  return json.is_object() && !too_deep ? json : ordered_json::object();
}

std::string text_member(const ordered_json& metadata, const char* name,
                        const std::string& missing) {
  const auto member = metadata.find(name);
  return member != metadata.end() && member->is_string() ? member->get<std::string>() : missing;
}

Fields fields_of(const ordered_json& document) {
  Fields fields;
  flatten(document, "", fields);
  return fields;
}

std::vector<Difference> differences(const Fields& wanted, const Fields& other) {
  std::set<std::string> names;
  for (const auto& [name, value] : wanted) names.insert(name);
  for (const auto& [name, value] : other) names.insert(name);
  std::vector<Difference> result;
  for (const std::string& name : names) {
    Difference difference{name, value_of(wanted, name), value_of(other, name)};
    if (difference.wanted != difference.other) result.push_back(std::move(difference));
  }
  return result;
}

}  // namespace tilejit::cli
