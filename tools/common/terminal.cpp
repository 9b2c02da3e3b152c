#include "common/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tilejit::cli {

bool colours(std::FILE* stream) noexcept {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (refused != nullptr && *refused != '\0') return false;
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return ::isatty(::fileno(stream)) == 1;
}

std::string inked(Ink ink, std::string_view text, std::FILE* stream) {
  constexpr std::array kCodes = {1, 31, 32, 33, 34};
  if (!colours(stream)) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(ink)], text);
}

std::size_t terminal_width(std::FILE* stream) noexcept {
  winsize size = {};
  const bool known = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
  return known ? size.ws_col : 80;
}

}  // namespace tilejit::cli
