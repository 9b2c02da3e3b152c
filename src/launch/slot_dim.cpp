#include "launch/slot_dim.hpp"

#include <algorithm>
#include <utility>

#include "tilejit/error.hpp"

namespace tilejit::launch {

void detail::fail_overflow() {
  throw Error(ErrorCode::unsupported,
              "a tensor of this launch has more than 2^63-1 elements or bytes; check the values of "
              "its symbols");
}

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

SlotDim::SlotDim(const Dim& dim, const SymbolTable& table) : factor_(dim.factor()) {
  for (const std::string& symbol : dim.symbols()) {
    const int slot = table.find(symbol);
    if (slot < 0) {
      throw Error(ErrorCode::invalid_argument, "symbol '" + symbol + "' is not of this operation");
    }
    slots_.push_back(slot);
  }
  if (slots_.size() == 1 && factor_ == 1) alone_ = slots_[0];
}

int DimTable::number(const Dim& dim, const SymbolTable& symbols) {
  SlotDim wanted(dim, symbols);
  const auto at = std::find(dims_.begin(), dims_.end(), wanted);
  const auto number = static_cast<int>(at - dims_.begin());
  if (at == dims_.end()) dims_.push_back(std::move(wanted));
  return number;
}

std::int64_t SlotDim::evaluate_product(std::span<const std::int64_t> values) const {
  bool zero = false;
  for (const int slot : slots_) {
    if (values[slot] == kUnset) return kUnset;
    zero = zero || values[slot] == 0;
  }
  if (zero) return 0;  // also if the product of the other factors overflows
  std::int64_t product = factor_;
  for (const int slot : slots_) product = multiply(product, values[slot]);
  return product;
}

}  // namespace tilejit::launch
