#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilejit::cache {

/// Bytes from texts such as "500", "64K", "1.5G", "4GiB", "2GB". K, M, G and T, in either case and
/// with or without iB, are powers of 1024; KB, MB, GB and TB are powers of 1000. Nothing for any
/// other text.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;

/// Seconds from texts such as "90s", "30m", "12h", "30d", "2w"; a bare number is seconds. Nothing
/// for any other text.
[[nodiscard]] std::optional<std::chrono::seconds> parse_age(std::string_view text) noexcept;

}  // namespace tilejit::cache
