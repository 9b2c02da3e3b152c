#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilejit {

/// What becomes of line breaks and tabs.
enum class Lines : std::uint8_t {
  one,      ///< a space each: a text must not look like a line of its own
  several,  ///< they stay, except carriage returns
};

/// `text`, from a file, a server or another user, in a form fit for a terminal, a log or a picture:
/// control characters, bytes that are not UTF-8, and characters that change the direction of text
/// become '?'. Everything else stays.
[[nodiscard]] std::string printable(std::string_view text, Lines lines = Lines::one);

}  // namespace tilejit
