#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilejit::cache {

template <class Integer>
void append_little_endian(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) out += static_cast<char>(value >> (8 * i));
}

/// The integer at byte `at`, which lies inside `bytes`.
template <class Integer>
[[nodiscard]] Integer load_little_endian(std::string_view bytes, std::size_t at) noexcept {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value |= static_cast<Integer>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

}  // namespace tilejit::cache
