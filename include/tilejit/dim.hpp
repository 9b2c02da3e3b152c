#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
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
/// The symbols and quotients of a product, sorted by text, a squared one twice. One object per set,
/// never destroyed.
struct SymbolSet {
  std::vector<std::string> names;
};
}  // namespace detail

/// Functions of dimensions that a product cannot express.
enum class DimFunction {
  ceil_div,    ///< the quotient, rounded up
  min,         ///< the smaller one
  exact_div,   ///< the quotient; no value unless b divides a
  stride_div,  ///< the quotient, 1 if a < b; no value unless a < b or b divides a
};

/// A non-negative extent or stride: a known integer; a known factor times symbols ("M", "8*N",
/// "M*N"), functions of them ("ceil_div(M,128)") or a step of a coordinate ("4@1"); or an unknown
/// multiple of a factor ("?", "?{div=8}"). The same name is the same value everywhere (at least 1
/// if the layout algebra relies on that); two "?" are two values. At most 8 symbols are multiplied;
/// a function whose text exceeds 256 bytes is a "?". A value type of 16 bytes; text form
/// `to_string`, inverse `parse_dim`. Sets of symbols, and functions, that have occurred are kept
/// for the life of the process.
class Dim {
 public:
  /// Of a product: what takes it stays short.
  static constexpr std::size_t kMaxSymbols = 8;

  Dim() = default;
  /// Throws Error{invalid_layout} if `value` is negative, or beyond 2^63-1.
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
  [[nodiscard]] bool is_unknown() const noexcept { return !is_known() && !is_named(); }
  /// Known, or a product of symbols: no "?", no function, no step of a coordinate.
  [[nodiscard]] bool is_product() const noexcept;
  /// The integer of a known dimension. Throws std::logic_error for another one.
  [[nodiscard]] std::int64_t value() const {
    if (!is_known()) refuse_symbolic();
    return factor_;
  }
  [[nodiscard]] bool is(std::int64_t value) const noexcept {
    return is_known() && factor_ == value;
  }
  /// The known factor: the value itself when known, else what the value is a multiple of.
  [[nodiscard]] std::int64_t factor() const noexcept { return factor_; }
  /// The symbols of the product, and the texts of functions, sorted, a squared one twice.
  [[nodiscard]] std::span<const std::string> symbols() const noexcept {
    return symbols_ == nullptr ? std::span<const std::string>() : symbols_->names;
  }
  /// True if both have the same value for certain: two "?" need not.
  [[nodiscard]] bool same_value(const Dim& other) const noexcept {
    return *this == other && (is_known() || is_named());
  }

  /// Throws Error{unsupported} when the known factor exceeds 2^63-1, or beyond 8 symbols.
  friend Dim operator*(const Dim& a, const Dim& b) {
    std::int64_t product = 0;
    if (a.is_known() && b.is_known() && !__builtin_mul_overflow(a.factor_, b.factor_, &product)) {
      return {product, nullptr};
    }
    return multiply(a, b);
  }
  /// The exact quotient, if `b` divides `a` for every value of the symbols (and b is not 0).
  [[nodiscard]] static std::optional<Dim> divide(const Dim& a, const Dim& b);

  /// The value with symbols filled in. Throws Error{invalid_argument} if a symbol has no value, for
  /// "?", or if a function has no value; Error{unsupported} on overflow of 63 bits.
  [[nodiscard]] std::int64_t evaluate(const SymbolValues& values) const;

  bool operator==(const Dim&) const = default;
  /// By symbols, then by factor.
  std::strong_ordering operator<=>(const Dim& other) const noexcept;
  /// The same number for equal dimensions, in this process.
  [[nodiscard]] std::size_t hash() const noexcept {
    const std::size_t symbols = std::hash<const detail::SymbolSet*>{}(symbols_);
    return symbols ^ std::hash<std::int64_t>{}(factor_);
  }

 private:
  friend Dim function_of(DimFunction function, const Dim& a, const Dim& b);

  Dim(std::int64_t factor, const detail::SymbolSet* symbols) noexcept
      : factor_(factor), symbols_(symbols) {}
  static std::int64_t checked(std::int64_t value) {
    if (value < 0) refuse_negative(value);
    return value;
  }
  [[noreturn]] static void refuse_negative(std::int64_t value);
  [[noreturn]] void refuse_symbolic() const;
  static Dim multiply(const Dim& a, const Dim& b);

  std::int64_t factor_ = 1;
  const detail::SymbolSet* symbols_ = nullptr;  // null: known; an empty set: unknown
};

/// The function of the two, as a product if that is certain; "?" if one of them is. Throws
/// Error{invalid_layout} for known values that have none.
[[nodiscard]] Dim function_of(DimFunction function, const Dim& a, const Dim& b);
[[nodiscard]] inline Dim ceil_div(const Dim& a, const Dim& b) {
  if (!a.is_known() || !b.is_known() || b.is(0)) return function_of(DimFunction::ceil_div, a, b);
  return a.factor() / b.factor() + (a.factor() % b.factor() != 0);
}
[[nodiscard]] inline Dim ceil_div(std::integral auto a, std::integral auto b) {
  return ceil_div(Dim(a), Dim(b));
}
[[nodiscard]] inline Dim min(const Dim& a, const Dim& b) {
  if (!a.is_known() || !b.is_known()) return function_of(DimFunction::min, a, b);
  return a.factor() < b.factor() ? a.factor() : b.factor();
}
[[nodiscard]] inline Dim exact_div(const Dim& a, const Dim& b) {
  if (!a.is_known() || !b.is_known() || b.is(0) || a.factor() % b.factor() != 0) {
    return function_of(DimFunction::exact_div, a, b);
  }
  return a.factor() / b.factor();
}
[[nodiscard]] inline Dim stride_div(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known() && a.factor() < b.factor() && !a.is(0)) return 1;
  return a.is_known() && b.is_known() ? exact_div(a, b)
                                      : function_of(DimFunction::stride_div, a, b);
}

[[nodiscard]] std::string to_string(const Dim& dim);

/// Parses "128", "M", "8*M*N", "?", "?{div=8}", "ceil_div(M,4)", "4@1". Throws
/// Error{invalid_layout}, or what multiplying throws.
[[nodiscard]] Dim parse_dim(std::string_view text);

}  // namespace tilejit

template <>
struct std::hash<tilejit::Dim> {
  std::size_t operator()(const tilejit::Dim& dim) const noexcept { return dim.hash(); }
};
