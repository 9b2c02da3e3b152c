#include "tilejit/cache/units.hpp"

#include <charconv>
#include <cmath>

namespace tilejit::cache {
namespace {

// Reads the number at the start of "1.5G" and removes it from `text`.
std::optional<double> leading_number(std::string_view& text) noexcept {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;  // no sign
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::int64_t> whole(double number) noexcept {
  if (!(number < 9e18)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(number));
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  double scale = 1;
  if (!text.empty() && text != "B") {
    const std::size_t power = std::string_view("KMGTkmgt").find(text.front());
    if (power == std::string_view::npos) return std::nullopt;
    text.remove_prefix(1);
    if (!text.empty() && text != "iB" && text != "B") return std::nullopt;
    scale = std::pow(text == "B" ? 1000.0 : 1024.0, static_cast<double>(power % 4 + 1));
  }
  const auto bytes = whole(*number * scale);
  if (!bytes) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

std::optional<std::chrono::seconds> parse_age(std::string_view text) noexcept {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  double scale = 0;
  if (text.empty() || text == "s") scale = 1;
  if (text == "m") scale = 60;
  if (text == "h") scale = 3600;
  if (text == "d") scale = 86400;
  if (text == "w") scale = 7 * 86400;
  const auto seconds = whole(*number * scale);
  if (scale == 0 || !seconds) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace tilejit::cache
