#include "program/source.hpp"

#include <algorithm>
#include <cctype>

namespace tilejit::program {
namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::size_t find_whole_word(std::string_view text, std::string_view word, std::size_t begin) {
  if (word.empty()) return text.npos;
  for (std::size_t at = text.find(word, begin); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_name_char(text[at - 1]) || !is_name_char(word.front());
    const bool ends = end == text.size() || !is_name_char(text[end]) || !is_name_char(word.back());
    if (starts && ends) return at;
  }
  return text.npos;
}

void Source::fail_at(std::size_t position, const std::string& message) const {
  expr::fail_at({.text = text_, .title = "program", .where = where_}, position, message);
}

void Source::fail(const TilePlace& statement, std::string_view word, const std::string& message,
                  std::string_view after) const {
  const std::string_view text = text_.substr(0, std::max(statement.begin, statement.end));
  std::size_t begin = statement.begin;
  if (!after.empty()) {
    const std::size_t found = find_whole_word(text, after, begin);
    if (found != text.npos) begin = found + after.size();
  }
  const std::size_t found = find_whole_word(text, word, begin);
  fail_at(found == text.npos ? statement.begin : found, message);
}

expr::SourceText Source::part(const TilePlace& place) const {
  return {.text = text_.substr(place.begin, place.end - place.begin),
          .title = "program",
          .where = where_,
          .whole = text_};
}

}  // namespace tilejit::program
