#pragma once

#include <cstdint>
#include <optional>

#include "tilejit/dim.hpp"

namespace tilejit::figures {

/// Like `dim.evaluate`, but returns nothing if a symbol has no value, or beyond 2^63-1.
[[nodiscard]] std::optional<std::int64_t> value_of(const Dim& dim, const SymbolValues& symbols);

/// The product of values; nothing if a value is missing, or beyond 2^63-1.
class Product {
 public:
  void times(const std::optional<std::int64_t>& value) {
    known_ = known_ && value && !__builtin_mul_overflow(value_, *value, &value_);
  }
  [[nodiscard]] std::optional<std::int64_t> value() const {
    return known_ ? std::optional(value_) : std::nullopt;
  }

 private:
  std::int64_t value_ = 1;
  bool known_ = true;
};

}  // namespace tilejit::figures
