#include "spec/object_reader.hpp"

#include <algorithm>
#include <utility>

#include "core/suggestion.hpp"

namespace tilejit::spec {
namespace {

const Json kEmptyObject = Json::object();

std::string kind_of(const Json& json) {
  if (json.is_number_integer()) return "an integer";
  if (json.is_boolean()) return "true or false";
  return json.is_null()
             ? "null"
             : (json.is_object() || json.is_array() ? "an " : "a ") + std::string(json.type_name());
}

}  // namespace

ObjectReader::ObjectReader(const Json& json, std::string where, Problems& problems)
    : json_(&json), where_(std::move(where)), problems_(&problems) {
  if (json.is_object()) return;
  problems.add(ErrorCode::invalid_spec, "expected an object {...}, found " + kind_of(json), where_);
  json_ = &kEmptyObject;
}

void ObjectReader::refuse_others(std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : json_->items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    if (problems_->full()) {
      problems_->add(ErrorCode::invalid_spec, {}, {});
      continue;
    }
    std::string message = "unknown field " + in_quotes(key);
    const std::string_view nearest = core::nearest_name(key, {known.begin(), known.size()});
    if (!nearest.empty()) {
      message += core::did_you_mean(nearest);
    } else {
      message += "; known are";
      for (const std::string_view name : known)
        message += (name == *known.begin() ? " " : ", ") + std::string(name);
    }
    problems_->add(ErrorCode::invalid_spec, message, at(key));
  }
}

const Json* ObjectReader::find(std::string_view key) const {
  const auto found = json_->find(std::string(key));
  return found == json_->end() ? nullptr : &*found;
}

std::string ObjectReader::at(std::string_view key) const {
  return pointer_to(where_, key);
}

std::optional<std::string> ObjectReader::text(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  wrong(key, "a string");
  return std::nullopt;
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() || value->get<std::uint64_t>() <= INT64_MAX);
  if (fits) return value->get<std::int64_t>();
  wrong(key, "an integer of 64 bits");
  return std::nullopt;
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  wrong(key, "true or false");
  return std::nullopt;
}

std::optional<Number> ObjectReader::number(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  if (value->is_number_integer()) return value->get<std::int64_t>();
  if (value->is_number()) return value->get<double>();
  wrong(key, "a number");
  return std::nullopt;
}

void ObjectReader::missing(std::string_view key, std::string_view example) {
  if (json_ == &kEmptyObject) return;  // a value that is no object has been reported already
  problems_->add(
      ErrorCode::invalid_spec,
      "the field '" + std::string(key) + "' is missing; write for instance " + std::string(example),
      where_);
}

void ObjectReader::wrong(std::string_view key, const std::string& expected) {
  problems_->add(ErrorCode::invalid_spec, "expected " + expected + ", found " + kind_of(*find(key)),
                 at(key));
}

void ObjectReader::members(
    std::string_view key,
    const std::function<void(const std::string&, const Json&, const std::string&)>& each) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  if (!value->is_object()) {
    wrong(key, "an object {\"name\": ...}");
    return;
  }
  for (const auto& [name, member] : value->items()) each(name, member, pointer_to(at(key), name));
}

}  // namespace tilejit::spec
