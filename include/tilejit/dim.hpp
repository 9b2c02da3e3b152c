#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// Values of symbols, e.g. {"M", 4096}.
using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

namespace detail {
/// The symbols of a product, sorted, a squared one twice. One object a set, alive for ever.
struct SymbolSet {
  std::vector<std::string> names;
};
}  // namespace detail

/// A non-negative extent or stride: a known integer; a known factor times named symbols ("M",
/// "8*N", "M*N"); or an unknown multiple of a known factor, without a name ("?", "?{div=8}").
/// Symbols become arguments of the kernel; the same name is the same value in every tensor of a
/// descriptor, whereas two "?" are two values. At most 8 symbols are multiplied. A value type of
/// 16 bytes; text form `to_string`,
/// inverse `parse_dim`. Sets of symbols that have occurred are kept for the life of the process.
class Dim {
 public:
  Dim() = default;
  /// Throws Error{invalid_layout} if `value` is negative.
  Dim(std::integral auto value)  // NOLINT: a known dimension is written as a number
      : Dim(checked(static_cast<std::int64_t>(value)), nullptr) {}
  /// A symbol. Throws Error{invalid_layout} if `name` is not an identifier.
  Dim(std::string_view name);                             // NOLINT: a symbol is written as its name
  Dim(const char* name) : Dim(std::string_view(name)) {}  // NOLINT
  /// An unknown multiple of `divisor`. Throws Error{invalid_layout} unless it is positive.
  [[nodiscard]] static Dim unknown(std::int64_t divisor = 1);

  [[nodiscard]] bool is_known() const noexcept { return symbols_ == nullptr; }
  [[nodiscard]] bool is_named() const noexcept {
    return symbols_ != nullptr && !symbols_->names.empty();
  }
  /// The integer of a known dimension. Throws std::logic_error for another one.
  [[nodiscard]] std::int64_t value() const;
  [[nodiscard]] bool is(std::int64_t value) const noexcept {
    return is_known() && factor_ == value;
  }
  /// The known factor: the value itself when known, else what the value is a multiple of.
  [[nodiscard]] std::int64_t factor() const noexcept { return factor_; }
  /// The symbols of the product, sorted, a squared symbol twice.
  [[nodiscard]] std::span<const std::string> symbols() const noexcept {
    return symbols_ == nullptr ? std::span<const std::string>() : symbols_->names;
  }
  /// True if both have the same value for certain: two "?" need not.
  [[nodiscard]] bool same_value(const Dim& other) const noexcept {
    return *this == other && (is_known() || is_named());
  }

  /// Throws Error{unsupported} when the known factor exceeds 2^63-1, or beyond 8 symbols.
  friend Dim operator*(const Dim& a, const Dim& b);
  /// The exact quotient, if `b` divides `a` for every value of the symbols (and b is not 0).
  [[nodiscard]] static std::optional<Dim> divide(const Dim& a, const Dim& b);

  /// The value with symbols filled in. Throws Error{invalid_argument} if a symbol has no value, or
  /// for "?", Error{unsupported} on overflow of 63 bits.
  [[nodiscard]] std::int64_t evaluate(const SymbolValues& values) const;

  bool operator==(const Dim&) const = default;
  /// By symbols, then by factor.
  std::strong_ordering operator<=>(const Dim& other) const noexcept;

 private:
  Dim(std::int64_t factor, const detail::SymbolSet* symbols) noexcept
      : factor_(factor), symbols_(symbols) {}
  static std::int64_t checked(std::int64_t value);

  std::int64_t factor_ = 1;
  const detail::SymbolSet* symbols_ = nullptr;  // null: known; an empty set: unknown
};

[[nodiscard]] std::string to_string(const Dim& dim);

/// Parses "128", "M", "8*M*N", "?", "?{div=8}". Throws Error{invalid_layout}, or what multiplying
/// throws.
[[nodiscard]] Dim parse_dim(std::string_view text);

}  // namespace tilejit
