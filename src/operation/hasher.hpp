#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tilejit/layout.hpp"

namespace tilejit::operation {

/// A hash of parts of descriptors, added in order. Equal parts have equal hashes within this
/// process.
class Hasher {
 public:
  Hasher& add(std::uint64_t value) noexcept {
    hash_ = detail::hash_combine(hash_, value);
    return *this;
  }
  Hasher& add(std::string_view text) noexcept {
    return add(std::hash<std::string_view>{}(text)).add(text.size());
  }
  Hasher& add(const std::string& text) noexcept { return add(std::string_view(text)); }
  Hasher& add(const Layout& layout) noexcept { return add(std::hash<Layout>{}(layout)); }
  Hasher& add(DType dtype) noexcept { return add(static_cast<std::uint64_t>(dtype)); }
  template <typename T>
  Hasher& add(const std::optional<T>& value) noexcept {
    return value ? add(std::uint64_t{1}).add(static_cast<std::uint64_t>(*value))
                 : add(std::uint64_t{0});
  }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0x51ed270b0b3a4c55u;
};

}  // namespace tilejit::operation
