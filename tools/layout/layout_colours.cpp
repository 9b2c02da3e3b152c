#include "layout/layout_colours.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilejit::cli {
namespace {

constexpr std::array<int, 8> kBlackness = {0, 40, 20, 60, 10, 50, 30, 70};  // percent
constexpr std::int64_t kHues = 32;

constexpr std::array<Colour, 12> kColours = {{{0x8d, 0xd3, 0xc7},
                                              {0xff, 0xff, 0xb3},
                                              {0xbe, 0xba, 0xda},
                                              {0xfb, 0x80, 0x72},
                                              {0x80, 0xb1, 0xd3},
                                              {0xfd, 0xb4, 0x62},
                                              {0xb3, 0xde, 0x69},
                                              {0xfc, 0xcd, 0xe5},
                                              {0xd9, 0xd9, 0xd9},
                                              {0xbc, 0x80, 0xbd},
                                              {0xcc, 0xeb, 0xc5},
                                              {0xff, 0xed, 0x6f}}};

// The share of red in a fully saturated hue. Green's share is red's share a third of a turn
// earlier.
double share(double hue) {
  const double turns = hue - std::floor(hue);
  return std::clamp(std::abs(turns * 6 - 3) - 1, 0.0, 1.0);
}

}  // namespace

Colour grey_of(std::int64_t value) {
  const int percent = 100 - kBlackness[static_cast<std::size_t>(value) % kBlackness.size()];
  const auto shade = static_cast<std::uint8_t>(255 * percent / 100);
  return {shade, shade, shade};
}

Colour colour_of(std::int64_t value) {
  return kColours[static_cast<std::size_t>(value) % kColours.size()];
}

Colour hue_of(std::int64_t value) {
  const double hue = static_cast<double>(value % kHues) / kHues;
  const double white = value % 2 == 0 ? 0.45 : 0.7;
  const auto part = [&](double shifted) {
    return static_cast<std::uint8_t>(std::lround(255 * (white + (1 - white) * share(shifted))));
  };
  return {part(hue), part(hue - 1.0 / 3), part(hue - 2.0 / 3)};
}

bool is_dark(Colour colour) {
  return 299 * colour.red + 587 * colour.green + 114 * colour.blue < 115 * 1000;
}

}  // namespace tilejit::cli
