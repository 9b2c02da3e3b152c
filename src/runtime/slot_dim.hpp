#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/dim.hpp"

namespace tilejit::runtime {

/// A symbol that has no value (yet). Values of symbols are never negative.
inline constexpr std::int64_t kUnset = -1;

/// The symbols of an operation, numbered: a launch keeps their values in an array, without names.
struct SymbolTable {
  std::vector<std::string> names;      ///< sorted; the position is the slot
  std::vector<std::int64_t> divisors;  ///< what each value is promised to be a multiple of

  SymbolTable() = default;
  /// From spec::Analysis::symbols.
  explicit SymbolTable(const std::map<std::string, std::int64_t>& symbols);

  [[nodiscard]] std::size_t size() const noexcept { return names.size(); }
  /// The slot of `name`; -1 if there is none.
  [[nodiscard]] int find(std::string_view name) const noexcept;
};

/// A Dim whose symbols are slots.
struct SlotDim {
  std::int64_t factor = 1;
  std::vector<int> slots;  ///< a squared symbol twice

  SlotDim() = default;
  /// Throws Error{invalid_argument} for a symbol that is not in the table.
  SlotDim(const Dim& dim, const SymbolTable& table);

  /// The value; kUnset if a symbol has none. Throws Error{unsupported} beyond 2^63-1.
  [[nodiscard]] std::int64_t evaluate(std::span<const std::int64_t> values) const {
    if (slots.empty()) return factor;
    return evaluate_product(values);
  }

 private:
  [[nodiscard]] std::int64_t evaluate_product(std::span<const std::int64_t> values) const;
};

/// a * b of sizes. Throws Error{unsupported} beyond 2^63-1.
[[nodiscard]] std::int64_t multiply(std::int64_t a, std::int64_t b);
/// a + b of sizes. Throws Error{unsupported} beyond 2^63-1.
[[nodiscard]] std::int64_t add(std::int64_t a, std::int64_t b);

}  // namespace tilejit::runtime
