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

// Levenshtein's distance, row by row.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

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

std::string expected_arguments(const Builtin& builtin) {
  if (builtin.max_args == kAnyNumber)
    return std::to_string(builtin.min_args) + " or more arguments";
  return std::to_string(builtin.max_args) + (builtin.max_args == 1 ? " argument" : " arguments");
}

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t least = name.size() <= 4 ? 2 : 3;  // only nearer names are worth a mention
  const auto consider = [&](std::string_view candidate) {
    const std::size_t difference = candidate.size() > name.size() ? candidate.size() - name.size()
                                                                  : name.size() - candidate.size();
    if (difference >= least || name.size() <= 1) return;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  };
  for (const std::string_view candidate : known) consider(candidate);
  for (const Builtin& builtin : kBuiltins) consider(builtin.name);
  for (const Reduction& reduction : kReductions) consider(reduction.name);
  for (const Scan& scan : kScans) consider(scan.name);
  for (const std::string_view word : kWords) consider(word);
  for (const DType dtype : kAllDTypes) consider(to_string(dtype));
  return nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

bool is_reserved(std::string_view name) noexcept {
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords) ||
         find_builtin(name) != nullptr || find_reduction(name) != nullptr ||
         find_scan(name) != nullptr || find_dtype(name).has_value() || name == "b8";
}

}  // namespace tilejit::expr
