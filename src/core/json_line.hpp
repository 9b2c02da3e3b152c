#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tilejit::core {

/// Writes JSON on one line. Every request writes the text of its key this way before it can ask the
/// cache; building a tree of values would take longer than the rest of a hit. Texts are not
/// escaped, so only names and numbers may be written.
class JsonLine {
 public:
  JsonLine& open(char bracket) {  // '{' or '['
    separate();
    text_ += bracket;
    return *this;
  }
  JsonLine& close(char bracket) {
    text_ += bracket;
    return *this;
  }
  JsonLine& key(std::string_view name) {
    value(name);
    text_ += ':';
    return *this;
  }
  JsonLine& value(std::string_view text) {
    separate();
    ((text_ += '"') += text) += '"';
    return *this;
  }
  JsonLine& raw(std::string_view json) {
    separate();
    text_ += json;
    return *this;
  }
  JsonLine& member(std::string_view name, std::string_view text) { return key(name).value(text); }
  JsonLine& member(std::string_view name, std::int64_t number) {
    return key(name).raw(std::to_string(number));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void separate() {
    if (!text_.empty() && std::string_view("{[:").find(text_.back()) == std::string_view::npos) {
      text_ += ',';
    }
  }

  std::string text_;
};

/// `line` (JSON without spaces between its values) on several lines, indented by two spaces.
[[nodiscard]] std::string indented(std::string_view line);

}  // namespace tilejit::core
