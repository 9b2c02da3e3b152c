#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tilejit::cli {

/// Whether text written to `stream` may be coloured: `stream` is a terminal that knows colours, and
/// NO_COLOR (https://no-color.org) is unset or empty.
[[nodiscard]] bool colours(std::FILE* stream) noexcept;

enum class Ink : std::uint8_t { bold, red, green, yellow, blue };
/// `text` in a colour if `stream` may be coloured.
[[nodiscard]] std::string inked(Ink ink, std::string_view text, std::FILE* stream);

/// The columns of the terminal at `stream`; 80 if `stream` is not a terminal.
[[nodiscard]] std::size_t terminal_width(std::FILE* stream) noexcept;

}  // namespace tilejit::cli
