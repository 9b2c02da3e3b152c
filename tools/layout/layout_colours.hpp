#pragma once

#include <cstdint>

namespace tilejit::cli {

struct Colour {
  std::uint8_t red = 255, green = 255, blue = 255;
  bool operator==(const Colour&) const = default;
};

/// CuTe's 8 shades of grey, in its order.
[[nodiscard]] Colour grey_of(std::int64_t value);
/// One of 12 light colours.
[[nodiscard]] Colour colour_of(std::int64_t value);
/// One of 32 light hues, neighbours of unlike lightness.
[[nodiscard]] Colour hue_of(std::int64_t value);
/// White text is read better on it than black.
[[nodiscard]] bool is_dark(Colour colour);

}  // namespace tilejit::cli
