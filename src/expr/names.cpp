#include "expr/names.hpp"

#include <algorithm>
#include <vector>

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

constexpr std::string_view kWords[] = {"and", "or",  "not", "if",   "else", "true",  "false",
                                       "inf", "nan", "pi",  "cast", "iota", "extent"};

constexpr std::string_view kOtherNames[][2] = {{"float", "f32"},
                                               {"float16", "f16"},
                                               {"float32", "f32"},
                                               {"float64", "f64"},
                                               {"fp16", "f16"},
                                               {"fp32", "f32"},
                                               {"fp64", "f64"},
                                               {"half", "f16"},
                                               {"double", "f64"},
                                               {"bfloat16", "bf16"},
                                               {"float8_e4m3fn", "f8e4m3"},
                                               {"float8_e5m2", "f8e5m2"},
                                               {"tfloat32", "tf32"},
                                               {"int", "i32"},
                                               {"int8", "i8"},
                                               {"int16", "i16"},
                                               {"int32", "i32"},
                                               {"int64", "i64"},
                                               {"long", "i64"},
                                               {"uint8", "u8"},
                                               {"uint16", "u16"},
                                               {"uint32", "u32"},
                                               {"uint64", "u64"},
                                               {"arcsin", "asin"},
                                               {"arccos", "acos"},
                                               {"arctan", "atan"},
                                               {"arctan2", "atan2"},
                                               {"fabs", "abs"},
                                               {"ln", "log"},
                                               {"maximum", "max"},
                                               {"minimum", "min"},
                                               {"power", "pow"},
                                               {"select", "where"},
                                               {"swish", "silu"}};

std::string_view our_name(std::string_view name) {
  const auto* found = std::find_if(std::begin(kOtherNames), std::end(kOtherNames),
                                   [&](const auto& pair) { return pair[0] == name; });
  return found == std::end(kOtherNames) ? std::string_view() : (*found)[1];
}

std::string did_you_mean(std::string_view name) {
  return name.empty() ? "" : "; did you mean '" + std::string(name) + "'?";
}

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Counts changed, missing, added and swapped letters, row by row (optimal string alignment).
// Ignores case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  const auto same = [&](std::size_t i, std::size_t j) { return lowered(a[i]) == lowered(b[j]); };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same(i - 1, j - 1) ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1);
      if (exchanged) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row.back();
}

// Takes names one by one and keeps the nearest.
class Nearest {
 public:
  explicit Nearest(std::string_view name) : name_(name), least_(name.size() <= 4 ? 2 : 3) {}

  void consider(std::string_view candidate) {
    const std::size_t difference = candidate.size() > name_.size()
                                       ? candidate.size() - name_.size()
                                       : name_.size() - candidate.size();
    if (difference >= least_) return;
    const std::size_t distance = edit_distance(name_, candidate);
    if (distance >= least_ || (name_.size() <= 1 && distance > 0)) return;
    least_ = distance;
    found_ = candidate;
  }
  [[nodiscard]] std::string_view found() const { return found_; }

 private:
  std::string_view name_, found_;
  std::size_t least_;  // distance that a name must stay below to be suggested
};

}  // namespace

// For nan and all numbers whose error is finite, the comparisons have a certain result. A literal
// -1 would not fit unsigned types; the negative of a 1 of x's type wraps.
const std::vector<FunctionText>& prelude() {
  static const std::vector<FunctionText> functions = {
      {"sign", {"x"}, "where(x > 0, 1, where(x < 0, -where(x < 0, 1, x), x))"},
      {"isnan", {"x"}, "not (abs(x) <= inf)"},
      {"isinf", {"x"}, "abs(x) == inf"},
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

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  Nearest nearest(name);
  for (const std::string_view candidate : known) nearest.consider(candidate);
  return nearest.found();
}

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  if (const std::string_view ours = our_name(name); !ours.empty()) return did_you_mean(ours);
  Nearest nearest(name);
  for (const std::string_view candidate : known) nearest.consider(candidate);
  for (const Builtin& builtin : kBuiltins) nearest.consider(builtin.name);
  for (const FunctionText& function : prelude()) nearest.consider(function.name);
  for (const Reduction& reduction : kReductions) nearest.consider(reduction.name);
  for (const Scan& scan : kScans) nearest.consider(scan.name);
  for (const std::string_view word : kWords) nearest.consider(word);
  for (const DType dtype : kAllDTypes) nearest.consider(to_string(dtype));
  return did_you_mean(nearest.found());
}

std::string dtype_suggestion(std::string_view name) {
  const std::string_view ours = our_name(name);
  if (find_dtype(ours)) return did_you_mean(ours);
  Nearest nearest(name);
  for (const DType dtype : kAllDTypes) nearest.consider(to_string(dtype));
  return did_you_mean(nearest.found());
}

bool is_reserved(std::string_view name) noexcept {
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords) ||
         names_function(name) || name == "b8";
}

}  // namespace tilejit::expr
