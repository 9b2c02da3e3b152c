#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tilejit/layout.hpp"

namespace tilejit {

/// layout(i) in the colexicographic order of coordinates; the last leaf is not wrapped.
inline std::int64_t value_at(const Layout& layout, std::int64_t i) {
  std::int64_t index = 0;
  const auto leaves = layout.leaves();
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const std::int64_t extent = leaves[k].extent.value();
    const std::int64_t c = k + 1 == leaves.size() ? i : i % extent;
    index += c * leaves[k].stride.value();
    i /= extent;
  }
  return index;
}

/// Random layouts from a seed that a failure prints.
class RandomLayouts : public testing::Test {
 protected:
  static constexpr int kCases = 3000;

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random_);
  }
  IntTuple random_shape(int modes, std::int64_t most) {
    IntTuple shape = IntTuple::empty_tuple();
    for (int i = 0; i < modes; ++i) {
      if (pick(0, 3) == 0) {
        shape.append({pick(1, most), pick(1, most)});
      } else {
        shape.append(pick(1, most));
      }
    }
    return shape;
  }
  Layout compact_layout(const IntTuple& shape) {
    std::vector<int> order(rank(shape));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::ranges::shuffle(order, random_);
    return ordered(shape, order);
  }
  /// Compact in a random order, or with random strides.
  Layout random_layout(int modes, std::int64_t most, std::int64_t most_stride = 12) {
    const IntTuple shape = random_shape(modes, most);
    if (pick(0, 1) == 0) return compact_layout(shape);
    return {shape, shape.map([&](const Dim&) { return Dim(pick(0, most_stride)); })};
  }
  /// Compact, with extents that are powers of two.
  Layout layout_of_bits(int modes, int most_bits) {
    IntTuple shape = IntTuple::empty_tuple();
    for (int i = 0; i < modes; ++i) shape.append(std::int64_t{1} << pick(0, most_bits));
    return compact_layout(shape);
  }

  unsigned seed_ = std::random_device()();
  std::mt19937 random_{seed_};
  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
};

}  // namespace tilejit
