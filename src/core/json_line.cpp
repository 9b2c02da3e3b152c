#include "core/json_line.hpp"

namespace tilejit::core {
namespace {

constexpr std::size_t kIndent = 2;

void start_line(std::string& text, std::size_t depth) {
  text += '\n';
  text.append(kIndent * depth, ' ');
}

/// The end of the text that starts at `begin`: the position after its closing quote.
std::size_t end_of_text(std::string_view line, std::size_t begin) noexcept {
  std::size_t at = begin + 1;
  while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
  return at + 1;
}

}  // namespace

std::string indented(std::string_view line) {
  std::string text;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const char next = at + 1 < line.size() ? line[at + 1] : '\0';
    if (c == '"') {
      const std::size_t end = end_of_text(line, at);
      text += line.substr(at, end - at);
      at = end - 1;
    } else if ((c == '{' && next == '}') || (c == '[' && next == ']')) {
      (text += c) += next;
      ++at;
    } else if (c == '{' || c == '[') {
      text += c;
      start_line(text, ++depth);
    } else if (c == '}' || c == ']') {
      start_line(text, --depth);
      text += c;
    } else if (c == ',') {
      text += c;
      start_line(text, depth);
    } else {
      text += c;
      if (c == ':') text += ' ';
    }
  }
  return text;
}

}  // namespace tilejit::core
