#include "tilejit/printable.hpp"

#include <algorithm>
#include <cstddef>

namespace tilejit {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// Smallest code point that needs a sequence of that many bytes; smaller ones would be overlong.
constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};

std::size_t length_of(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

Character first_of(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = length_of(first);
  if (bytes < 2) return {first, bytes};
  if (bytes > text.size()) return {};
  char32_t code = first & (0xffu >> (bytes + 1));
  for (const char c : text.substr(1, bytes - 1)) {
    const auto next = static_cast<unsigned char>(c);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3fu);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kSmallest[bytes] || code > 0x10ffff || surrogate ? Character{}
                                                                 : Character{code, bytes};
}

// C0 and C1 controls, line and paragraph separators, and characters that override the text
// direction.
bool steers(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text, Lines lines) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    const bool blank = next.code == '\n' || next.code == '\t';
    if (blank) {
      shown += lines == Lines::one ? ' ' : text.front();
    } else if (next.bytes == 0 || steers(next.code)) {
      shown += '?';
    } else {
      shown.append(text.substr(0, next.bytes));
    }
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return shown;
}

}  // namespace tilejit
