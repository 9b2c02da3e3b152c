#include "cache/cache_metadata.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

constexpr int kDeepest = 64;  // levels; printing a value recurses as deeply

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

}  // namespace tilejit::cli
