#include "expr/names.hpp"

#include <algorithm>
#include <vector>

#include "core/suggestion.hpp"

namespace tilejit::expr {
namespace {

constexpr Builtin kBuiltins[] = {
    {"where", Op::where, 3, 3},
    {"min", Op::min, 2, kAnyNumber},
    {"max", Op::max, 2, kAnyNumber},
    {"abs", Op::abs},
    {"exp", Op::exp},
    {"exp2", Op::exp2},
    {"log", Op::log},
    {"log2", Op::log2},
    {"sqrt", Op::sqrt},
    {"rsqrt", Op::rsqrt},
    {"sin", Op::sin},
    {"cos", Op::cos},
    {"tan", Op::tan},
    {"tanh", Op::tanh},
    {"erf", Op::erf},
    {"pow", Op::pow, 2, 2},
    {"floor", Op::floor},
    {"ceil", Op::ceil},
    {"round", Op::round},
    {"sigmoid", Op::sigmoid},
    {"silu", Op::silu},
    {"gelu", Op::gelu},
    {"gelu_tanh", Op::gelu_tanh},
    {"relu", Op::relu},
    {"clamp", Op::clamp, 3, 3},
    // Names from here on were added later, so older formulas may have declared them.
    {"asin", Op::asin, 1, 1, true},
    {"acos", Op::acos, 1, 1, true},
    {"atan", Op::atan, 1, 1, true},
    {"sinh", Op::sinh, 1, 1, true},
    {"cosh", Op::cosh, 1, 1, true},
    {"log10", Op::log10, 1, 1, true},
    {"log1p", Op::log1p, 1, 1, true},
    {"expm1", Op::expm1, 1, 1, true},
    {"cbrt", Op::cbrt, 1, 1, true},
    {"erfc", Op::erfc, 1, 1, true},
    {"trunc", Op::trunc, 1, 1, true},
    {"atan2", Op::atan2, 2, 2, true},
    {"copysign", Op::copysign, 2, 2, true},
    {"hypot", Op::hypot, 2, 2, true},
    {"fma", Op::fma, 3, 3, true},
};

constexpr Reduction kReductions[] = {
    {"sum", Reduction::Kind::sum, true}, {"prod", Reduction::Kind::prod, true},
    {"mean", Reduction::Kind::mean},     {"var", Reduction::Kind::var},
    {"min", Reduction::Kind::min, true}, {"max", Reduction::Kind::max, true},
    {"any", Reduction::Kind::any, true}, {"all", Reduction::Kind::all, true},
    {"argmin", Reduction::Kind::argmin}, {"argmax", Reduction::Kind::argmax},
};

constexpr Scan kScans[] = {
    {"cumsum", Op::scan_sum},
    {"cumprod", Op::scan_prod},
    {"cummin", Op::scan_min},
    {"cummax", Op::scan_max},
};

// Words that join expressions, which no unknown name or function can stand for.
constexpr std::string_view kJoiningWords[] = {"and", "or", "not", "if", "else"};
constexpr std::string_view kWords[] = {"true", "false", "inf",  "nan",
                                       "pi",   "cast",  "iota", "extent"};

// What other libraries call functions of the language.
constexpr std::string_view kOtherNames[][2] = {
    {"arcsin", "asin"}, {"arccos", "acos"},  {"arctan", "atan"}, {"arctan2", "atan2"},
    {"fabs", "abs"},    {"ln", "log"},       {"maximum", "max"}, {"minimum", "min"},
    {"power", "pow"},   {"select", "where"}, {"swish", "silu"},
};

std::string_view our_name(std::string_view name) {
  const auto* found = std::find_if(std::begin(kOtherNames), std::end(kOtherNames),
                                   [&](const auto& pair) { return pair[0] == name; });
  return found == std::end(kOtherNames) ? std::string_view() : (*found)[1];
}

// Names that mean something wherever a formula has one.
std::vector<std::string_view> names_of_the_language() {
  std::vector<std::string_view> names(std::begin(kWords), std::end(kWords));
  for (const Builtin& builtin : kBuiltins) names.push_back(builtin.name);
  for (const FunctionText& function : prelude()) names.push_back(function.name);
  for (const Reduction& reduction : kReductions) names.push_back(reduction.name);
  for (const Scan& scan : kScans) names.push_back(scan.name);
  for (const DType dtype : kAllDTypes) names.push_back(to_string(dtype));
  return names;
}

}  // namespace

// For nan and all numbers whose error is finite, the comparisons have a certain result. A literal
// -1 would not fit unsigned types; the negative of a 1 of x's type wraps.
const std::vector<FunctionText>& prelude() {
  static const std::vector<FunctionText> functions = {
      {"sign", {"x"}, "where(x > 0, 1, where(x < 0, -where(x < 0, 1, x), x))"},
      {"isnan", {"x"}, "not (abs(x) <= inf)"},
      {"isinf", {"x"}, "abs(x) == inf"},
      {"ceil_div", {"a", "b"}, "a // b + (a % b != 0)"},
  };
  return functions;
}

const Builtin* find_builtin(std::string_view name) noexcept {
  const auto* found = std::find_if(std::begin(kBuiltins), std::end(kBuiltins),
                                   [&](const Builtin& builtin) { return builtin.name == name; });
  return found == std::end(kBuiltins) ? nullptr : found;
}

const Reduction* find_reduction(std::string_view name) noexcept {
  const auto* found =
      std::find_if(std::begin(kReductions), std::end(kReductions),
                   [&](const Reduction& reduction) { return reduction.name == name; });
  return found == std::end(kReductions) ? nullptr : found;
}

const Scan* find_scan(std::string_view name) noexcept {
  const auto* found = std::find_if(std::begin(kScans), std::end(kScans),
                                   [&](const Scan& scan) { return scan.name == name; });
  return found == std::end(kScans) ? nullptr : found;
}

std::optional<DType> find_dtype(std::string_view name) noexcept {
  for (const DType dtype : kAllDTypes) {
    if (to_string(dtype) == name) return dtype;
  }
  return std::nullopt;
}

bool names_function(std::string_view name) noexcept {
  const Builtin* builtin = find_builtin(name);
  return (builtin != nullptr && !builtin->is_declarable) || find_reduction(name) != nullptr ||
         find_scan(name) != nullptr || find_dtype(name).has_value();
}

std::string expected_arguments(const Builtin& builtin) {
  if (builtin.max_args == kAnyNumber)
    return std::to_string(builtin.min_args) + " or more arguments";
  return std::to_string(builtin.max_args) + (builtin.max_args == 1 ? " argument" : " arguments");
}

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  for (const std::string_view ours : {our_name(name), core::dtype_called(name)}) {
    if (!ours.empty()) return core::did_you_mean(ours);
  }
  std::vector<std::string_view> names(known.begin(), known.end());
  const std::vector<std::string_view> language = names_of_the_language();
  names.insert(names.end(), language.begin(), language.end());
  return core::did_you_mean(core::nearest_name(name, names));
}

bool is_reserved(std::string_view name) noexcept {
  const auto is_one_of = [&](const auto& words) {
    return std::find(std::begin(words), std::end(words), name) != std::end(words);
  };
  return is_one_of(kJoiningWords) || is_one_of(kWords) || names_function(name) || name == "b8";
}

}  // namespace tilejit::expr
