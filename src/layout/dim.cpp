#include "tilejit/dim.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/dim_function.hpp"
#include "layout/reader.hpp"

namespace tilejit {
namespace {

const detail::SymbolSet* no_name() {
  static const auto* set = new detail::SymbolSet;
  return set;
}

bool is_step(const Dim& dim) {
  return dim.is_named() && layout::is_basis(dim.symbols().front());
}

/// Throws unless a coordinate step is multiplied by a number or symbols only.
void check_steps(const Dim& a, const Dim& b) {
  if ((!is_step(a) || !is_step(b)) && !a.is_unknown() && !b.is_unknown()) return;
  throw Error(ErrorCode::invalid_layout,
              "the product of " + to_string(a) + " and " + to_string(b) +
                  " is no step of a coordinate; use numbers and symbols");
}

}  // namespace

bool layout::is_basis_text(std::string_view text) noexcept {
  constexpr std::size_t kMostLevels = 8, kMostDigits = 4, kMostModes = 1024;
  std::size_t levels = 0;
  while (!text.empty() && text[0] == '@' && ++levels <= kMostLevels) {
    text.remove_prefix(1);
    std::size_t digits = 0, mode = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
      if (digits < kMostDigits) mode = 10 * mode + static_cast<std::size_t>(text[digits] - '0');
    }
    const bool leading_zero = digits > 1 && text[0] == '0';
    if (digits == 0 || digits > kMostDigits || mode >= kMostModes || leading_zero) return false;
    text.remove_prefix(digits);
  }
  return text.empty() && levels > 0;
}

const detail::SymbolSet* layout::intern(std::vector<std::string> names) {
  using Sets = std::map<std::vector<std::string>, detail::SymbolSet>;
  static std::mutex mutex;
  static Sets& sets = *new Sets;  // never destroyed: static dimensions point into it
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = sets.try_emplace(std::move(names));
  if (is_new) at->second.names = at->first;
  return &at->second;
}

void Dim::refuse_negative(std::int64_t value) {
  throw Error(
      ErrorCode::invalid_layout,
      "extents and strides are not negative, and at most 2^63-1; found " + std::to_string(value));
}

Dim::Dim(std::string_view name) {
  const bool is_step = name.starts_with('@') && layout::is_basis_text(name);
  if (!is_step && (!core::is_identifier(name) || name == "_")) {
    throw Error(ErrorCode::invalid_layout,
                "a symbol is a letter or '_' and up to 63 more letters, digits or '_', not '_' "
                "alone, found '" +
                    std::string(name.substr(0, 64)) + "'");
  }
  symbols_ = layout::intern({std::string(name)});
}

Dim Dim::unknown(std::int64_t divisor) {
  if (divisor < 1) {
    throw Error(ErrorCode::invalid_layout,
                "the divisor of an unknown is at least 1, found " + std::to_string(divisor));
  }
  return {divisor, no_name()};
}

void Dim::refuse_symbolic() const {
  throw std::logic_error("Dim::value of the symbolic " + to_string(*this));
}

bool Dim::is_product() const noexcept {
  const auto is_other = [](const std::string& symbol) {
    return layout::is_function(symbol) || layout::is_basis(symbol);
  };
  return is_known() || (is_named() && std::ranges::none_of(symbols(), is_other));
}

Dim Dim::multiply(const Dim& a, const Dim& b) {
  const std::int64_t factor = layout::checked_multiply(a.factor_, b.factor_);
  if (factor == 0) return 0;
  if (a.is_known() || b.is_known()) return {factor, a.is_known() ? b.symbols_ : a.symbols_};
  if (is_step(a) || is_step(b)) check_steps(a, b);
  if (!a.is_named() || !b.is_named()) return {factor, no_name()};
  if (a.symbols().size() + b.symbols().size() > kMaxSymbols) {
    throw Error(ErrorCode::unsupported, "the product " + core::shortened(to_string(a)) + " * " +
                                            core::shortened(to_string(b)) +
                                            " has more than 8 symbols; use known extents");
  }
  std::vector<std::string> names;
  std::ranges::merge(a.symbols(), b.symbols(), std::back_inserter(names));
  return {factor, layout::intern(std::move(names))};
}

std::optional<Dim> Dim::divide(const Dim& a, const Dim& b) {
  if (b.factor_ == 0 || a.factor_ % b.factor_ != 0) return std::nullopt;
  const std::int64_t factor = a.factor_ / b.factor_;
  if (factor == 0) return Dim(0);
  if (b.is_known()) return Dim(factor, a.symbols_);
  if (!b.is_named() || !std::ranges::includes(a.symbols(), b.symbols())) return std::nullopt;
  std::vector<std::string> names;
  std::ranges::set_difference(a.symbols(), b.symbols(), std::back_inserter(names));
  return Dim(factor, names.empty() ? nullptr : layout::intern(std::move(names)));
}

std::strong_ordering Dim::operator<=>(const Dim& other) const noexcept {
  if (symbols_ == other.symbols_) return factor_ <=> other.factor_;
  if (is_known() || other.is_known()) return other.is_known() <=> is_known();
  const auto a = symbols(), b = other.symbols();
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

std::int64_t Dim::evaluate(const SymbolValues& values) const {
  if (!is_known() && !is_named()) {
    throw Error(ErrorCode::invalid_argument,
                "the unknown '" + to_string(*this) + "' has no name to give it a value by");
  }
  std::int64_t result = factor_;
  for (const std::string& symbol : symbols()) {
    result = layout::checked_multiply(result, layout::evaluate_symbol(symbol, values));
  }
  return result;
}

std::string to_string(const Dim& dim) {
  if (dim.is_known()) return std::to_string(dim.factor());
  if (!dim.is_named()) {
    return dim.factor() == 1 ? "?" : "?{div=" + std::to_string(dim.factor()) + "}";
  }
  std::string text, basis;
  if (dim.factor() != 1) text = std::to_string(dim.factor());
  for (const std::string& symbol : dim.symbols()) {
    if (layout::is_basis(symbol)) {
      basis = symbol;
    } else {
      text += (text.empty() ? "" : "*") + symbol;
    }
  }
  return (text.empty() ? "1" : text) + basis;
}

Dim parse_dim(std::string_view text) {
  layout::Reader reader(text);
  Dim dim = reader.read_dim();
  reader.expect_end();
  return dim;
}

}  // namespace tilejit
