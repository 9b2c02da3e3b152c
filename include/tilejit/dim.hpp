#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// Values of symbols, e.g. {"M", 4096}.
using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

/// A non-negative extent or stride: a known integer, or a known factor times named symbols
/// ("M", "8*N", "M*N"). Symbols become arguments of the kernel; the same name is the same value
/// in every tensor of a descriptor. At most 8 symbols are multiplied. A value type; text form
/// `to_string`, inverse `parse_dim`.
class Dim {
 public:
  Dim() = default;
  /// Throws Error{invalid_layout} if `value` is negative.
  Dim(std::integral auto value)  // NOLINT: a known dimension is written as a number
      : Dim(Known{}, static_cast<std::int64_t>(value)) {}
  /// A symbol. Throws Error{invalid_layout} if `name` is not an identifier.
  Dim(std::string_view name);                             // NOLINT: a symbol is written as its name
  Dim(const char* name) : Dim(std::string_view(name)) {}  // NOLINT

  [[nodiscard]] bool is_known() const noexcept { return symbols_.empty(); }
  /// The integer of a known dimension. Throws std::logic_error for a symbolic one.
  [[nodiscard]] std::int64_t value() const;
  [[nodiscard]] bool is(std::int64_t value) const noexcept {
    return is_known() && factor_ == value;
  }
  /// The known factor: the value itself when known.
  [[nodiscard]] std::int64_t factor() const noexcept { return factor_; }
  /// The symbols of the product, sorted, a squared symbol twice.
  [[nodiscard]] const std::vector<std::string>& symbols() const noexcept { return symbols_; }

  /// Throws Error{unsupported} when the known factor exceeds 2^63-1, or beyond 8 symbols.
  friend Dim operator*(const Dim& a, const Dim& b);
  /// The exact quotient, if `b` divides `a` for every value of the symbols (and b is not 0).
  [[nodiscard]] static std::optional<Dim> divide(const Dim& a, const Dim& b);

  /// The value with symbols filled in. Throws Error{invalid_argument} if a symbol has no value,
  /// Error{unsupported} on overflow of 63 bits.
  [[nodiscard]] std::int64_t evaluate(const SymbolValues& values) const;

  bool operator==(const Dim&) const = default;
  auto operator<=>(const Dim&) const = default;

 private:
  struct Known {};
  Dim(Known, std::int64_t value);

  std::int64_t factor_ = 1;
  std::vector<std::string> symbols_;  // sorted; empty when factor_ is 0
};

[[nodiscard]] std::string to_string(const Dim& dim);

/// Parses "128", "M", "8*M*N". Throws Error{invalid_layout}, or what multiplying throws.
[[nodiscard]] Dim parse_dim(std::string_view text);

}  // namespace tilejit
