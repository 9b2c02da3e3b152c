#include "expr/message.hpp"

#include <algorithm>

#include "tilejit/error.hpp"

namespace tilejit::expr {
namespace {

constexpr std::size_t kBefore = 48;  // bytes shown left of the caret
constexpr std::size_t kAfter = 40;   // bytes shown from the caret on

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Length of the well-formed UTF-8 sequence at the start of `text` (RFC 3629); 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  return overlong || beyond ? 0 : length;
}

std::size_t columns(std::string_view printable_text) {
  return static_cast<std::size_t>(std::count_if(printable_text.begin(), printable_text.end(),
                                                [](char c) { return !is_continuation(c); }));
}

std::string_view whole_of(const SourceText& source) {
  return source.whole.empty() ? source.text : source.whole;
}

std::size_t place_in_whole(const SourceText& source, std::size_t position) {
  return position + static_cast<std::size_t>(source.text.data() - whole_of(source).data());
}

}  // namespace

std::size_t line_number(const SourceText& source, std::size_t position) noexcept {
  return line_number(whole_of(source), place_in_whole(source, position));
}

std::size_t line_number(std::string_view text, std::size_t position) noexcept {
  const std::string_view before = text.substr(0, position);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const char c = text[0];
    if (length > 1) {
      result += text.substr(0, length);
    } else if (c == '\t' || c == '\r') {
      result += ' ';
    } else {
      result += length == 0 || c < 0x20 || c == 0x7F ? '?' : c;
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 40;
  if (text.size() <= kMost) return "'" + printable(text) + "'";
  std::size_t end = kMost - 3;
  while (end > 0 && is_continuation(text[end])) --end;
  return "'" + printable(text.substr(0, end)) + "...'";
}

void fail_at(const SourceText& source, std::size_t position, const std::string& message,
             const std::string& note) {
  const std::string_view text = whole_of(source);
  position = std::min(place_in_whole(source, position), text.size());
  const std::size_t newline = position == 0 ? text.npos : text.rfind('\n', position - 1);
  const std::size_t line_begin = newline == text.npos ? 0 : newline + 1;
  const std::size_t line_end = std::min(text.find('\n', position), text.size());

  std::size_t begin = std::max(line_begin, position - std::min(position, kBefore));
  std::size_t end = std::min(line_end, position + kAfter);
  while (begin < position && begin > line_begin && is_continuation(text[begin])) ++begin;
  while (end > position && end < line_end && is_continuation(text[end])) --end;

  const std::string before =
      (begin > line_begin ? "..." : "") + printable(text.substr(begin, position - begin));
  const std::string after =
      printable(text.substr(position, end - position)) + (end < line_end ? "..." : "");
  std::string what = source.title + " line " + std::to_string(line_number(text, position)) + ": " +
                     message + "\n    " + before + after + "\n    " +
                     std::string(columns(before), ' ') + "^";
  if (!note.empty()) what += "\n" + note;
  throw Error(ErrorCode::invalid_formula, what, source.where);
}

}  // namespace tilejit::expr
