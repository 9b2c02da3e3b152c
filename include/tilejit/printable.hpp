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

/// `text`, which may come from a file, a server or another user, as it may be shown on a terminal,
/// in a log or in a picture: UTF-8 whose control characters, bytes that are not UTF-8, and
/// characters that change the direction of text are written as '?'. Everything else is as it was.
[[nodiscard]] std::string printable(std::string_view text, Lines lines = Lines::one);

}  // namespace tilejit
