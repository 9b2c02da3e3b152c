#include "spec/json_text.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/object_reader.hpp"
#include "spec/problems.hpp"
#include "tilejit/error.hpp"

namespace tilejit::spec {
namespace {

constexpr std::size_t kMaxDepth = 100;
constexpr std::size_t kMostJsonValues = 1'000'000;  // about 300 MB
constexpr std::size_t kFewMembers = 32;             // up to this many are searched one by one
constexpr int kNumberOverflow = 406;                // id of nlohmann's exception

/// Describes the character at which the parser failed.
std::string found_at(std::string_view text, std::size_t byte) {
  if (byte == 0 || byte > text.size()) return "the end of the text";
  const char c = text[byte - 1];
  if (c == '\n') return "the end of the line";
  return c == '\'' ? "a single quote" : in_quotes(text.substr(byte - 1, 1));
}

/// A hint about what the author may have meant.
std::string remedy(std::string_view text, std::size_t byte) {
  if (byte == 0 || byte > text.size()) return "";
  const char c = text[byte - 1];
  const std::string_view before = text.substr(0, byte - 1);
  const std::size_t last = before.find_last_not_of(" \t\r\n");
  const bool after_comma = last != before.npos && before[last] == ',';
  if (c == '\'') return "; names and strings stand in double quotes";
  if (c == '/' || c == '#') return "; JSON has no comments, \"description\" may hold text";
  if (after_comma && (c == '}' || c == ']')) return "; remove the comma before it";
  const auto is_letter = [](char l) { return (l | 0x20) >= 'a' && (l | 0x20) <= 'z'; };
  if (is_letter(c)) return "; besides strings in double quotes there are true, false and null";
  return "";
}

/// What the parser expected, in words. nlohmann's message has it at its end, if at all.
std::string expected(std::string_view message) {
  constexpr std::string_view kMark = "; expected ";
  const std::size_t mark = message.rfind(kMark);
  if (mark == message.npos) return "a value";
  std::string_view what = message.substr(mark + kMark.size());
  what = what.substr(0, what.find("; last read"));
  if (what == "string literal") return "a name in double quotes";
  if (what == "end of input") return "nothing more";
  if (what.starts_with("'[', '{'")) return "a value";
  if (what.starts_with("digit")) return "a " + std::string(what);
  if (what == "'}'" || what == "']'") return "',' or " + std::string(what);
  return std::string(what);
}

/// The fault and its place, as a replacement for nlohmann's message.
std::string reason(std::string_view text, std::size_t byte,
                   const nlohmann::json::exception& error) {
  byte = std::min(byte, text.size() + 1);
  std::size_t line = 1, column = 1;
  for (const char c : text.substr(0, byte > 0 ? byte - 1 : 0)) {
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n';
  }
  const std::string_view message = error.what();
  const auto mentions = [&](std::string_view part) { return message.find(part) != message.npos; };
  const std::string place =
      " at line " + std::to_string(line) + ", column " + std::to_string(column);
  if (error.id == kNumberOverflow) return "the number" + place + " exceeds a double's range";
  if (mentions("UTF-8")) return "the text is not UTF-8" + place;
  const std::string start = "the text is not JSON" + place + ": ";
  if (mentions("missing closing quote")) return start + "a string has no closing quote";
  if (mentions("control character"))
    return start + "a string holds a line break or control character; write \\n for a line break";
  if (mentions("after backslash")) return start + "unknown escape; write \\\\ for a backslash";
  return start + "expected " + expected(message) + ", found " + found_at(text, byte) +
         remedy(text, byte);
}

/// Builds the value from the parser's events. Refuses faults that the finished value would not
/// show.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}
  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return put(nullptr) != nullptr; }
  bool boolean(bool value) override { return put(value) != nullptr; }
  bool number_integer(std::int64_t value) override { return put(value) != nullptr; }
  bool number_unsigned(std::uint64_t value) override { return put(value) != nullptr; }
  bool number_float(double value, const std::string&) override { return put(value) != nullptr; }
  bool string(std::string& value) override { return put(std::move(value)) != nullptr; }
  bool binary(Json::binary_t&) override { return false; }  // JSON text has no binary values
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    Json::object_t& members = open_.back().value->get_ref<Json::object_t&>();
    bool is_new = true;
    if (members.size() < kFewMembers) {
      is_new = members.emplace(name, nullptr).second;
    } else if ((is_new = note(members, name))) {
      members.emplace_back(name, nullptr);
    }
    if (!is_new) {
      throw Error(ErrorCode::invalid_spec,
                  "the key " + in_quotes(name) + " is given twice in one object",
                  pointer_to(pointer(), name));
    }
    member_ = &members.back().second;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::json::exception& error) override {
    throw Error(ErrorCode::invalid_spec, reason(text_, byte, error));
  }

 private:
  struct Open {
    Json* value;
    std::unique_ptr<std::set<std::string>> names;  // for objects with more than a few members
  };

  /// Adds `name` to the names of the innermost object. Returns false if it is there already.
  bool note(const Json::object_t& members, const std::string& name) {
    auto& names = open_.back().names;
    if (names == nullptr) {
      names = std::make_unique<std::set<std::string>>();
      for (const auto& [known, value] : members) names->insert(known);
    }
    return names->insert(name).second;
  }

  /// The JSON pointer of the innermost container. Each container is the last value in its parent.
  [[nodiscard]] std::string pointer() const {
    std::string place;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const Json& outer = *open_[i].value;
      place =
          pointer_to(place, outer.is_array() ? std::to_string(outer.size() - 1)
                                             : outer.get_ref<const Json::object_t&>().back().first);
    }
    return place;
  }

  /// Stores the value and returns its final place; never null.
  Json* put(Json value) {
    if (++values_ > kMostJsonValues) {
      throw Error(ErrorCode::invalid_spec,
                  "JSON of more than 1000000 values is not read; split it into several files");
    }
    if (open_.empty()) return &(root_ = std::move(value));
    Json& innermost = *open_.back().value;
    if (innermost.is_array()) return &innermost.emplace_back(std::move(value));
    return &(*member_ = std::move(value));
  }
  bool open(Json container) {
    if (open_.size() == kMaxDepth) {
      throw Error(ErrorCode::invalid_spec, "JSON is nested more than 100 levels deep");
    }
    open_.push_back({put(std::move(container)), nullptr});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  Json root_;
  std::vector<Open> open_;  // only the innermost container grows
  std::size_t values_ = 0;
  Json* member_ = nullptr;  // in the innermost object, after its key
};

}  // namespace

std::string fault_text(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string::npos;
  return end == std::string::npos ? text : text.substr(end + 2);
}

Json parse_json(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(ErrorCode::invalid_spec,
                "the spec is empty; `tilejit schema` prints what it should hold");
  }
  Builder builder(text);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace tilejit::spec
