#include "runtime/slot_dim.hpp"

#include <algorithm>

#include "tilejit/error.hpp"

namespace tilejit::runtime {
namespace {

[[noreturn]] void fail_overflow() {
  throw Error(ErrorCode::unsupported,
              "a tensor of this launch has more than 2^63-1 elements or bytes; check the values of "
              "its symbols");
}

}  // namespace

SymbolTable::SymbolTable(const std::map<std::string, std::int64_t>& symbols) {
  for (const auto& [name, divisor] : symbols) {
    names.push_back(name);
    divisors.push_back(divisor);
  }
}

int SymbolTable::find(std::string_view name) const noexcept {
  const auto at = std::lower_bound(names.begin(), names.end(), name);
  return at != names.end() && *at == name ? static_cast<int>(at - names.begin()) : -1;
}

SlotDim::SlotDim(const Dim& dim, const SymbolTable& table) : factor(dim.factor()) {
  for (const std::string& symbol : dim.symbols()) {
    const int slot = table.find(symbol);
    if (slot < 0) {
      throw Error(ErrorCode::invalid_argument, "symbol '" + symbol + "' is not of this operation");
    }
    slots.push_back(slot);
  }
}

std::int64_t SlotDim::evaluate_product(std::span<const std::int64_t> values) const {
  bool zero = factor == 0;
  for (const int slot : slots) {
    if (values[slot] == kUnset) return kUnset;
    zero = zero || values[slot] == 0;
  }
  if (zero) return 0;  // also where the other factors alone would overflow
  std::int64_t product = factor;
  for (const int slot : slots) product = multiply(product, values[slot]);
  return product;
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]]
    fail_overflow();
  return product;
}

std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]]
    fail_overflow();
  return sum;
}

}  // namespace tilejit::runtime
