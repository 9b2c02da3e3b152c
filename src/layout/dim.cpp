#include "tilejit/dim.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/reader.hpp"

namespace tilejit {
namespace {

constexpr std::size_t kMaxSymbols = 8;  // what takes their product stays short

}  // namespace

Dim::Dim(Known, std::int64_t value) : factor_(value) {
  if (value < 0) {
    throw Error(ErrorCode::invalid_layout,
                "extents and strides are not negative, found " + std::to_string(value));
  }
}

Dim::Dim(std::string_view name) : symbols_{std::string(name)} {
  if (!core::is_identifier(name)) {
    throw Error(ErrorCode::invalid_layout,
                "a symbol is a letter or '_' and up to 63 more letters, digits or '_', found '" +
                    std::string(name.substr(0, 64)) + "'");
  }
}

std::int64_t Dim::value() const {
  if (!is_known()) throw std::logic_error("Dim::value of the symbolic " + to_string(*this));
  return factor_;
}

Dim operator*(const Dim& a, const Dim& b) {
  Dim product;
  product.factor_ = layout::checked_multiply(a.factor_, b.factor_);
  if (product.factor_ == 0) return product;
  if (a.symbols_.size() + b.symbols_.size() > kMaxSymbols) {
    throw Error(ErrorCode::unsupported, "the product " + core::shortened(to_string(a)) + " * " +
                                            core::shortened(to_string(b)) +
                                            " has more than 8 symbols; use known extents");
  }
  std::ranges::merge(a.symbols_, b.symbols_, std::back_inserter(product.symbols_));
  return product;
}

std::optional<Dim> Dim::divide(const Dim& a, const Dim& b) {
  if (b.factor_ == 0 || a.factor_ % b.factor_ != 0) return std::nullopt;
  Dim quotient = a.factor_ / b.factor_;
  if (quotient.factor_ == 0) return quotient;
  if (!std::ranges::includes(a.symbols_, b.symbols_)) return std::nullopt;
  std::ranges::set_difference(a.symbols_, b.symbols_, std::back_inserter(quotient.symbols_));
  return quotient;
}

std::int64_t Dim::evaluate(const SymbolValues& values) const {
  std::int64_t result = factor_;
  for (const std::string& symbol : symbols_) {
    const auto found = values.find(symbol);
    if (found == values.end()) {
      throw Error(ErrorCode::invalid_argument, "symbol '" + symbol + "' has no value");
    }
    result = layout::checked_multiply(result, found->second);
  }
  return result;
}

std::string to_string(const Dim& dim) {
  std::string text;
  if (dim.is_known() || dim.factor() != 1) text = std::to_string(dim.factor());
  for (const std::string& symbol : dim.symbols()) text += (text.empty() ? "" : "*") + symbol;
  return text;
}

Dim parse_dim(std::string_view text) {
  layout::Reader reader(text);
  Dim dim = reader.read_dim();
  reader.expect_end();
  return dim;
}

}  // namespace tilejit
