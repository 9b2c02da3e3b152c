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
/// One of 32 light hues; the hues of neighbouring values differ in lightness.
[[nodiscard]] Colour hue_of(std::int64_t value);
/// Whether white text is easier to read on `colour` than black text.
[[nodiscard]] bool is_dark(Colour colour);

}  // namespace tilejit::cli
