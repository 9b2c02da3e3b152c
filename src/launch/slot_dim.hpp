#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/dim.hpp"

namespace tilejit::launch {

/// Marks a symbol that has no value (yet). Values of symbols are never negative.
inline constexpr std::int64_t kUnset = -1;

/// The symbols of an operation, numbered. A launch keeps their values in an array, without names.
struct SymbolTable {
  std::vector<std::string> names;      ///< sorted; the position is the slot
  std::vector<std::int64_t> divisors;  ///< each value is promised to be a multiple of its divisor

  SymbolTable() = default;
  /// From operation::Signature::symbols.
  explicit SymbolTable(const std::map<std::string, std::int64_t>& symbols);

  [[nodiscard]] std::size_t size() const noexcept { return names.size(); }
  /// The slot of `name`; -1 if there is none.
  [[nodiscard]] int find(std::string_view name) const noexcept;
};

namespace detail {
[[noreturn]] void fail_overflow();
}

/// a * b and a + b for sizes. Throw Error{unsupported} beyond 2^63-1.
[[nodiscard]] std::int64_t multiply(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t add(std::int64_t a, std::int64_t b);

/// A Dim whose symbols are slots.
class SlotDim {
 public:
  SlotDim() = default;
  /// Throws Error{invalid_argument} for a symbol that is not in the table.
  SlotDim(const Dim& dim, const SymbolTable& table);

  [[nodiscard]] std::int64_t factor() const noexcept { return factor_; }
  /// A squared symbol appears twice.
  [[nodiscard]] const std::vector<int>& slots() const noexcept { return slots_; }
  /// The slot if the dimension is a single symbol and nothing else; otherwise -1.
  [[nodiscard]] int alone() const noexcept { return alone_; }

  /// The value; kUnset if a symbol has none. Throws Error{unsupported} beyond 2^63-1.
  [[nodiscard]] std::int64_t evaluate(std::span<const std::int64_t> values) const {
    if (alone_ >= 0) return values[static_cast<std::size_t>(alone_)];
    return slots_.empty() ? factor_ : evaluate_product(values);
  }

 private:
  [[nodiscard]] std::int64_t evaluate_product(std::span<const std::int64_t> values) const;
  friend bool operator==(const SlotDim&, const SlotDim&) = default;

  std::int64_t factor_ = 1;
  int alone_ = -1;
  std::vector<int> slots_;
};

/// The distinct dimensions of an operation, numbered. Most tensors share theirs, and a launch
/// evaluates each once.
class DimTable {
 public:
  /// The number of `dim`; adds it if it is new. Throws as SlotDim.
  int number(const Dim& dim, const SymbolTable& symbols);

  [[nodiscard]] std::size_t size() const noexcept { return dims_.size(); }
  [[nodiscard]] const SlotDim& operator[](int number) const {
    return dims_[static_cast<std::size_t>(number)];
  }
  /// Writes the value of each; `out` has size() elements. Throws as SlotDim::evaluate.
  void evaluate(std::span<const std::int64_t> values, std::span<std::int64_t> out) const {
    for (std::size_t i = 0; i < dims_.size(); ++i) out[i] = dims_[i].evaluate(values);
  }

 private:
  std::vector<SlotDim> dims_;
};

inline std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]]
    detail::fail_overflow();
  return product;
}

inline std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]]
    detail::fail_overflow();
  return sum;
}

}  // namespace tilejit::launch
