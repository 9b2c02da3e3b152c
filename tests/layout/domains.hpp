#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "layout/random_layouts.hpp"
#include "tilejit/error.hpp"

namespace tilejit {

using Integers = std::vector<std::int64_t>;

/// One digit per extent, the first digit the fastest.
inline Integers digits_of(std::int64_t number, const Integers& extents) {
  Integers digits;
  for (const std::int64_t extent : extents) {
    digits.push_back(number % extent);
    number /= extent;
  }
  return digits;
}

inline std::int64_t number_of(const Integers& digits, const Integers& extents) {
  std::int64_t number = 0;
  for (std::size_t k = extents.size(); k-- > 0;) number = number * extents[k] + digits[k];
  return number;
}

/// `value` of the digits of each number below the product of `extents`.
template <typename Value>
Integers for_all_digits(const Integers& extents, Value value) {
  std::int64_t end = 1;
  for (const std::int64_t extent : extents) end *= extent;
  Integers result;
  for (std::int64_t i = 0; i < end; ++i) result.push_back(value(digits_of(i, extents)));
  return result;
}

inline Integers sizes_of_modes(const Layout& layout) {
  Integers sizes;
  for (std::size_t i = 0; i < rank(layout); ++i) sizes.push_back(size(mode(layout, i)).value());
  return sizes;
}

inline Integers values_of(const Layout& layout) {
  Integers values;
  for (std::int64_t i = 0; i < size(layout).value(); ++i) values.push_back(value_at(layout, i));
  return values;
}

inline Integers sorted(Integers values) {
  std::ranges::sort(values);
  return values;
}

inline Integers distinct(Integers values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

inline bool reaches_nothing_twice(const Layout& layout) {
  const Integers values = sorted(values_of(layout));
  return std::ranges::adjacent_find(values) == values.end();
}

/// The result of `call`, or nothing if it is refused.
template <typename Call>
auto answer(Call call) -> std::optional<decltype(call())> {
  try {
    return call();
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Includes layouts with gaps and of one leaf.
class RandomDomains : public RandomLayouts {
 protected:
  Layout any_layout(int most_modes, std::int64_t most) {
    const auto modes = static_cast<int>(pick(0, most_modes));
    if (modes == 0) return {pick(1, most), pick(0, 9)};
    if (pick(0, 2) > 0) return random_layout(modes, most);
    const Layout compact = compact_layout(random_shape(modes, most));
    return {compact.shape(), compact.stride().map([&](const Dim& d) { return d * pick(1, 3); })};
  }
  Layout injective_layout(int most_modes, std::int64_t most) {
    while (true) {
      const Layout layout = any_layout(most_modes, most);
      if (reaches_nothing_twice(layout)) return layout;
    }
  }
};

}  // namespace tilejit
