#include "core/suggestion.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "tilejit/dtype.hpp"

namespace tilejit::core {
namespace {

constexpr std::size_t kLongestName = 64;

struct OtherName {
  std::string_view theirs;
  DType ours;
};

constexpr OtherName kOtherDTypes[] = {
    {"float", f32},
    {"float16", f16},
    {"float32", f32},
    {"float64", f64},
    {"fp16", f16},
    {"fp32", f32},
    {"fp64", f64},
    {"half", f16},
    {"double", f64},
    {"bfloat16", bf16},
    {"float8_e4m3fn", f8e4m3},
    {"float8_e5m2", f8e5m2},
    {"fp8", f8e4m3},
    {"e4m3", f8e4m3},
    {"e5m2", f8e5m2},
    {"tfloat32", tf32},
    {"int", i32},
    {"int8", i8},
    {"int16", i16},
    {"int32", i32},
    {"int64", i64},
    {"long", i64},
    {"uint8", u8},
    {"uint16", u16},
    {"uint32", u32},
    {"uint64", u64},
};

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Changed, missing, added and exchanged letters, row by row (optimal string alignment).
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

std::size_t most_slips(std::string_view name) {
  if (name.size() <= 1) return 0;
  return name.size() <= 4 ? 1 : 2;
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  if (name.size() > kLongestName) return {};
  std::string_view found;
  std::size_t limit = most_slips(name) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t shorter = std::min(candidate.size(), name.size());
    if (std::max(candidate.size(), name.size()) - shorter >= limit) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= limit) continue;
    limit = distance;
    found = candidate;
  }
  return found;
}

std::string_view dtype_called(std::string_view name) {
  const auto* const other = std::ranges::find(kOtherDTypes, name, &OtherName::theirs);
  return other == std::end(kOtherDTypes) ? std::string_view() : to_string(other->ours);
}

std::string_view nearest_dtype(std::string_view name) {
  if (const std::string_view ours = dtype_called(name); !ours.empty()) return ours;
  std::vector<std::string_view> names;
  for (const DType dtype : kAllDTypes) names.push_back(to_string(dtype));
  const std::string_view nearest = nearest_name(name, names);
  const bool only_case = nearest.size() == name.size() && edit_distance(nearest, name) == 0;
  return name.size() > 3 || only_case ? nearest : std::string_view();
}

std::string did_you_mean(std::string_view name) {
  return name.empty() ? "" : "; did you mean '" + std::string(name) + "'?";
}

}  // namespace tilejit::core
