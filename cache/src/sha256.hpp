#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tilejit::cache {

using Digest = std::array<unsigned char, 32>;

/// SHA-256 (FIPS 180-4) of `bytes`. Thread-safe.
[[nodiscard]] Digest sha256(std::string_view bytes) noexcept;

/// The bytes that 64 lower-case hex digits stand for.
[[nodiscard]] Digest from_hex(std::string_view hex) noexcept;

/// 64 lower-case hex digits.
[[nodiscard]] std::string to_hex(const Digest& digest);

}  // namespace tilejit::cache
