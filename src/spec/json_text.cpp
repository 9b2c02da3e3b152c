#include "spec/json_text.hpp"

#include <set>
#include <string>
#include <vector>

#include "spec/problems.hpp"
#include "tilejit/error.hpp"

namespace tilejit::spec {
namespace {

constexpr int kMaxDepth = 100;

/// Watches the parser: refuses what the value alone would not show any more.
class Guard {
 public:
  bool operator()(int depth, nlohmann::json::parse_event_t event, Json& value) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > kMaxDepth)
      throw Error(ErrorCode::invalid_spec, "JSON is nested more than 100 levels deep");
    if (event == Event::object_start) {
      keys_.emplace_back();
    } else if (event == Event::object_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const std::string key = value.get<std::string>();
      if (!keys_.back().insert(key).second) {
        throw Error(ErrorCode::invalid_spec,
                    "the key " + in_quotes(key) + " is given twice in one object");
      }
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

/// The position and reason of nlohmann's message, without its own codes.
std::string reason(const nlohmann::json::parse_error& error, std::string_view text) {
  const std::size_t byte = std::min(error.byte, text.size());
  std::size_t line = 1, column = 1;
  for (const char c : text.substr(0, byte > 0 ? byte - 1 : 0)) {
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n';
  }
  const std::string what = error.what();
  const bool utf8 = what.find("UTF-8") != std::string::npos;
  return std::string(utf8 ? "the text is not UTF-8" : "the text is not JSON") + " at line " +
         std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace

Json parse_json(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(ErrorCode::invalid_spec,
                "the spec is empty; `tilejit schema` prints what it should hold");
  }
  try {
    return Json::parse(text.begin(), text.end(), Guard{});
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(ErrorCode::invalid_spec, reason(error, text));
  }
}

}  // namespace tilejit::spec
