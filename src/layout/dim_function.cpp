#include "layout/dim_function.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>

#include "core/text.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

constexpr std::array<const char*, 4> kNames = {"ceil_div", "min", "exact_div", "stride_div"};
constexpr std::size_t kMaxText = 256;

struct Function {
  DimFunction function;
  Dim a, b;
};

/// All functions that have occurred, by their text.
class Functions {
 public:
  static Functions& all() {
    static Functions& functions = *new Functions;  // never destroyed, as sets of symbols
    return functions;
  }
  std::string keep(const Function& function) {
    std::string text = std::string(kNames[static_cast<std::size_t>(function.function)]) + '(' +
                       to_string(function.a) + ',' + to_string(function.b) + ')';
    const std::lock_guard lock(mutex_);
    if (text.size() <= kMaxText) by_text_.try_emplace(text, function);
    return text;
  }
  const Function& at(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return by_text_.at(text);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Function> by_text_;
};

/// Nothing if the function has no value.
std::optional<std::int64_t> value_of(DimFunction function, std::int64_t a, std::int64_t b) {
  if (function == DimFunction::min) return std::min(a, b);
  if (b == 0) return std::nullopt;
  const bool divides = a % b == 0;
  if (function == DimFunction::exact_div && !divides) return std::nullopt;
  if (function == DimFunction::stride_div && !divides && a >= b) return std::nullopt;
  return a / b + !divides;
}

Error no_value(DimFunction function, ErrorCode code, std::int64_t a, std::int64_t b) {
  const std::string quotient = std::to_string(a) + " / " + std::to_string(b);
  if (b == 0) return {code, "the quotient " + quotient + " has no value"};
  return {code, "the quotient " + quotient + " is not exact" +
                    (function == DimFunction::stride_div ? ", nor is the stride smaller" : "")};
}

}  // namespace

std::optional<DimFunction> layout::parse_function(std::string_view name) noexcept {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<DimFunction>(found - kNames.begin());
}

bool layout::is_basis(const std::string& symbol) noexcept {
  return symbol.front() == '@';
}

bool layout::is_function(const std::string& symbol) noexcept {
  return symbol.back() == ')';
}

std::int64_t layout::evaluate_symbol(const std::string& symbol, const SymbolValues& values) {
  if (is_basis(symbol)) {
    throw Error(ErrorCode::invalid_argument,
                "1" + symbol + " is a step of a coordinate, which has no number");
  }
  if (!is_function(symbol)) {
    const auto found = values.find(symbol);
    if (found != values.end() && found->second >= 0) return found->second;
    throw Error(ErrorCode::invalid_argument,
                "symbol '" + symbol + "' " +
                    (found == values.end() ? "has no value"
                                           : "is " + std::to_string(found->second) +
                                                 "; extents and strides are not negative"));
  }
  const Function& function = Functions::all().at(symbol);
  const std::int64_t a = function.a.evaluate(values), b = function.b.evaluate(values);
  if (const auto value = value_of(function.function, a, b)) return *value;
  const Error error = no_value(function.function, ErrorCode::invalid_argument, a, b);
  throw Error(error.code(), core::shortened(symbol) + ": " + error.what());
}

Dim function_of(DimFunction function, const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known()) {
    if (const auto value = value_of(function, a.value(), b.value())) return *value;
    throw no_value(function, ErrorCode::invalid_layout, a.value(), b.value());
  }
  const bool is_min = function == DimFunction::min;
  if (b.is(0)) {
    if (is_min) return b;
    throw Error(ErrorCode::invalid_layout,
                "the quotient " + core::shortened(to_string(a)) + " / 0 has no value");
  }
  if (a.is(0) || (is_min ? a.same_value(b) : b.is(1))) return a;
  const std::int64_t divisor = std::gcd(a.factor(), b.factor());
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown(is_min ? divisor : 1);
  if (!is_min) {
    if (const auto quotient = Dim::divide(a, b)) return *quotient;
  }
  // The common factor of both.
  std::vector<std::string> names;
  std::ranges::set_intersection(a.symbols(), b.symbols(), std::back_inserter(names));
  const Dim common = names.empty() ? Dim(divisor) : Dim(divisor, layout::intern(std::move(names)));
  Function reduced = {function, *Dim::divide(a, common), *Dim::divide(b, common)};
  if (reduced.a.is_known() && reduced.b.is_known()) {
    return (is_min ? common : Dim(1)) * function_of(function, reduced.a, reduced.b);
  }
  if (is_min && reduced.b < reduced.a) std::swap(reduced.a, reduced.b);
  if (reduced.a.is(1) && function != DimFunction::exact_div) return is_min ? common : Dim(1);
  const std::string text = Functions::all().keep(reduced);
  const Dim value = text.size() > kMaxText ? Dim::unknown() : Dim(1, layout::intern({text}));
  return is_min ? common * value : value;
}

}  // namespace tilejit
