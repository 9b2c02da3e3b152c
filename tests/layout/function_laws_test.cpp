// The definitions of slices, casts, inverses and tilings, pointwise on random layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "layout/domains.hpp"
#include "tilejit/indexing.hpp"
#include "tilejit/layout_algebra.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {
namespace {

class FunctionLaws : public RandomDomains {
 protected:
  static Integers extents_of(const Layout& layout) {
    Integers extents;
    for (const Mode& leaf : layout.leaves()) extents.push_back(leaf.extent.value());
    return extents;
  }
  static auto leaves_of_stride_one(const Layout& layout) {
    return std::ranges::count_if(layout.leaves(), [](const Mode& m) { return m.stride.is(1); });
  }
  /// The bits of all elements.
  static Integers bits_of(const Layout& layout, std::int64_t width) {
    Integers bits;
    for (const std::int64_t value : values_of(layout)) {
      for (std::int64_t bit = 0; bit < width; ++bit) bits.push_back(value * width + bit);
    }
    return bits;
  }
};

TEST_F(FunctionLaws, SlicesAndDicesHoldTheirElementsInOrder) {
  int sliced = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 3)), 4);
    const Coordinate open = a.shape().map([&](const Dim& extent) -> CoordinateLeaf {
      if (pick(0, 1) == 0) return _;
      return pick(0, extent.value() - 1);
    });
    const auto slice_of_a = answer([&] { return slice(open, a); });
    const auto rest = answer([&] { return dice(open, a); });
    SCOPED_TRACE(to_string(a) + " at " + to_string(open));
    const Integers extents = extents_of(a);
    Integers in_slice, in_dice;
    for (std::int64_t i = 0; i < size(a).value(); ++i) {
      const Integers digits = digits_of(i, extents);
      bool matches = true, starts = true;
      for (std::size_t k = 0; k < digits.size(); ++k) {
        const CoordinateLeaf wanted = open.leaves()[k];
        matches = matches && (wanted.is_underscore() || wanted.value() == digits[k]);
        starts = starts && (!wanted.is_underscore() || digits[k] == 0);
      }
      if (matches) in_slice.push_back(value_at(a, i));
      if (starts) in_dice.push_back(value_at(a, i));
    }
    const auto open_leaves =
        std::ranges::count_if(open.leaves(), [](auto leaf) { return leaf.is_underscore(); });
    ASSERT_EQ(slice_of_a.has_value(), open_leaves > 0);
    ASSERT_EQ(rest.has_value(), open_leaves < std::ssize(extents));
    if (rest) {
      ASSERT_EQ(values_of(*rest), in_dice) << to_string(*rest);
    }
    if (!slice_of_a) continue;
    ++sliced;
    for (std::int64_t& value : in_slice) value -= slice_of_a->offset;
    ASSERT_EQ(values_of(slice_of_a->layout), in_slice) << to_string(slice_of_a->layout);
  }
  EXPECT_GT(sliced, kCases / 2);
}

// If n divides the extents that it narrows: n times the new index is the first old one.
TEST_F(FunctionLaws, UpcastCountsTheFirstOfEachNewElement) {
  int compared = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = any_layout(3, 8);
    const std::int64_t width = pick(2, 4);
    const auto wide = answer([&] { return upcast(a, width); });
    if (!wide) continue;
    SCOPED_TRACE(to_string(a) + " by " + std::to_string(width) + " -> " + to_string(*wide));
    const Integers extents = extents_of(a);
    Integers steps, expected_extents;
    for (const Mode& leaf : a.leaves()) {
      const std::int64_t stride = leaf.stride.value();
      steps.push_back(stride % width == 0 ? 1 : width / stride);
      expected_extents.push_back((leaf.extent.value() + steps.back() - 1) / steps.back());
    }
    ASSERT_EQ(extents_of(*wide), expected_extents);
    ASSERT_TRUE(congruent(wide->shape(), a.shape()));
    ++compared;
    ASSERT_EQ(values_of(*wide), for_all_digits(expected_extents, [&](const Integers& digits) {
                std::int64_t first = 0;
                for (std::size_t k = 0; k < digits.size(); ++k) {
                  first += digits[k] * steps[k] * a.leaves()[k].stride.value();
                }
                return first / width;
              }));
  }
  EXPECT_GT(compared, kCases / 4);
}

// Along every stride of 1, coordinate n * x + j is part j of old element x.
TEST_F(FunctionLaws, DowncastCountsThePartsOfEachElement) {
  int compared = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = any_layout(3, 5);
    const std::int64_t parts = pick(1, 4);
    const auto narrow = answer([&] { return downcast(a, parts); });
    ASSERT_EQ(narrow.has_value(), leaves_of_stride_one(a) > 0) << to_string(a);
    if (!narrow) continue;
    ++compared;
    SCOPED_TRACE(to_string(a) + " by " + std::to_string(parts) + " -> " + to_string(*narrow));
    const Integers extents = extents_of(a);
    Integers split = extents;
    for (std::size_t k = 0; k < extents.size(); ++k) {
      if (a.leaves()[k].stride.is(1)) split[k] *= parts;
    }
    ASSERT_EQ(values_of(*narrow), for_all_digits(split, [&](Integers digits) {
                std::int64_t part = 0;
                for (std::size_t k = 0; k < extents.size(); ++k) {
                  if (split[k] == extents[k]) continue;
                  part += digits[k] % parts;
                  digits[k] /= parts;
                }
                return parts * value_at(a, number_of(digits, extents)) + part;
              }));
    ASSERT_EQ(upcast(*narrow, parts), a);
  }
  EXPECT_GT(compared, kCases / 4);
}

// If whole vectors of old elements become new ones along the only stride of 1. As in CuTe, a stride
// of such a vector becomes 1 in between, and is not kept.
TEST_F(FunctionLaws, RecastKeepsTheBits) {
  int compared = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = any_layout(3, 8);
    const std::int64_t from = pick(1, 6), to = pick(1, 6), vector = to / std::gcd(from, to);
    const bool is_of_vectors = std::ranges::all_of(a.leaves(), [&](const Mode& leaf) {
      return (leaf.stride.is(1) ? leaf.extent : leaf.stride).value() % vector == 0;
    });
    if (!is_of_vectors || leaves_of_stride_one(a) != 1) continue;
    if (leaves_of_stride_one(upcast(a, vector)) != 1) continue;
    ++compared;
    const Layout recast = recast_layout(a, from, to);
    SCOPED_TRACE(to_string(a) + " -> " + to_string(recast));
    ASSERT_EQ(size(recast) * to, size(a) * from);
    ASSERT_EQ(distinct(bits_of(recast, to)), distinct(bits_of(a, from))) << from << " to " << to;
    ASSERT_EQ(recast_layout(recast, to, from), a);
  }
  EXPECT_GT(compared, kCases / 20);
}

// A compact block is repeated along the mode that comes first in the order, then along the next.
TEST_F(FunctionLaws, TilesAreInTheOrderGiven) {
  for (int n = 0; n < kCases; ++n) {
    const Layout block = compact_layout(random_shape(static_cast<int>(pick(1, 3)), 3));
    Integers inside = sizes_of_modes(block), repeats, extents, order;
    inside.resize(std::max<std::size_t>(inside.size(), static_cast<std::size_t>(pick(1, 3))), 1);
    IntTuple shape = IntTuple::empty_tuple(), order_tuple = IntTuple::empty_tuple();
    for (std::size_t k = 0; k < inside.size(); ++k) {
      repeats.push_back(pick(1, 3));
      extents.push_back(inside[k] * repeats[k]);
      shape.append(extents[k]);
      order.push_back(static_cast<std::int64_t>(k));
    }
    const int kind = static_cast<int>(pick(0, 2));
    if (kind == 1) std::ranges::reverse(order);
    if (kind == 2) std::ranges::shuffle(order, random_);
    for (const std::int64_t place : order) order_tuple.append(7 * place);
    const Layout whole =
        kind == 2 ? tile_to_shape(block, shape, order_tuple)
                  : tile_to_shape(block, shape, kind == 1 ? TileOrder::right : TileOrder::left);
    SCOPED_TRACE(to_string(block) + " to " + to_string(shape) + " -> " + to_string(whole));
    ASSERT_TRUE(compatible(shape, whole.shape()));
    ASSERT_EQ(values_of(whole), for_all_digits(extents, [&](const Integers& digits) {
                Integers in_block, tile(inside.size()), tiles(inside.size());
                for (std::size_t k = 0; k < inside.size(); ++k) {
                  const auto place = static_cast<std::size_t>(order[k]);
                  in_block.push_back(digits[k] % inside[k]);
                  tile[place] = digits[k] / inside[k];
                  tiles[place] = repeats[k];
                }
                return value_at(block, number_of(in_block, inside)) +
                       size(block).value() * number_of(tile, tiles);
              }));
  }
}

TEST_F(FunctionLaws, LeftInversesOfInjectiveLayoutsInvert) {
  int compared = 0, with_gaps = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = injective_layout(3, 5);
    const auto left = answer([&] { return left_inverse(a); });
    if (!left) continue;
    ++compared;
    with_gaps += cosize(a) > size(a).value();
    SCOPED_TRACE(to_string(a) + " -> " + to_string(*left));
    for (std::int64_t i = 0; i < size(a).value(); ++i) {
      ASSERT_EQ(value_at(*left, value_at(a, i)), i);
    }
  }
  EXPECT_GT(compared, kCases / 2);
  EXPECT_GT(with_gaps, kCases / 10);
}

TEST_F(FunctionLaws, CompactLayoutsHaveOneInverse) {
  for (int n = 0; n < kCases; ++n) {
    const Layout a = compact_layout(random_shape(static_cast<int>(pick(1, 3)), 5));
    const Layout right = right_inverse(a), left = left_inverse(a);
    SCOPED_TRACE(to_string(a) + " -> " + to_string(right) + ", " + to_string(left));
    ASSERT_EQ(size(right), size(a));
    ASSERT_EQ(values_of(left), values_of(right));
    ASSERT_EQ(values_of(composition(a, right)), values_of(make_identity(size(a))));
  }
}

TEST_F(FunctionLaws, CommonLayoutOfALayoutAndItselfIsItsRightInverse) {
  int long_ones = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = any_layout(3, 5), inverse = right_inverse(a);
    SCOPED_TRACE(to_string(a));
    const auto common = answer([&] { return max_common_layout(a, a); });
    if (!common) continue;
    ASSERT_EQ(values_of(*common), values_of(inverse));
    long_ones += size(inverse).value() > 1;
  }
  EXPECT_GT(long_ones, kCases / 4);
}

// Adding a coordinate of the nullspace to one that is 0 in the modes of stride 0 changes nothing,
// and together they form the domain.
TEST_F(FunctionLaws, NullspaceAndItsRestAreTheDomain) {
  int with_zeros = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 4)), 3, 2), zeros = nullspace(a);
    SCOPED_TRACE(to_string(a) + " -> " + to_string(zeros));
    with_zeros += size(zeros).value() > 1;
    Integers numbers;
    for (std::int64_t i = 0; i < size(a).value(); ++i) {
      const Integers digits = digits_of(i, extents_of(a));
      bool is_rest = true;
      for (std::size_t k = 0; k < digits.size(); ++k) {
        is_rest = is_rest && (digits[k] == 0 || !a.leaves()[k].stride.is(0));
      }
      if (!is_rest) continue;
      for (const std::int64_t zero : values_of(zeros)) {
        ASSERT_EQ(value_at(a, i + zero), value_at(a, i));
        numbers.push_back(i + zero);
      }
    }
    ASSERT_EQ(sorted(numbers), values_of(make_identity(size(a))));
  }
  EXPECT_GT(with_zeros, kCases / 8);
}

TEST_F(FunctionLaws, VectorsAreContiguousAndAligned) {
  int long_ones = 0, wide_ones = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = any_layout(3, 8);
    const Integers values = values_of(a);
    const std::int64_t vector = contiguous_vector(a).value(), most = max_alignment(a);
    SCOPED_TRACE(to_string(a) + " " + std::to_string(vector) + " " + std::to_string(most));
    for (std::int64_t i = 0; i < vector; ++i) ASSERT_EQ(value_at(a, i), i);
    ASSERT_TRUE(vector == size(a).value() || value_at(a, vector) != vector);
    Integers vectors;  // of the distinct values: each has as many as it has elements
    for (const std::int64_t value : distinct(values)) vectors.push_back(value / most);
    const auto count = static_cast<std::ptrdiff_t>(most);
    for (const std::int64_t v : distinct(vectors)) ASSERT_EQ(std::ranges::count(vectors, v), count);
    wide_ones += most > 1;
    if (size(a).value() % vector != 0) continue;
    const std::int64_t width = std::gcd(common_alignment(a), vector);
    for (std::int64_t i = 0; i < size(a).value(); ++i) {
      ASSERT_EQ(value_at(a, i - i % width) % width, 0);
      ASSERT_EQ(value_at(a, i), value_at(a, i - i % width) + i % width);
    }
    long_ones += width > 1;
  }
  EXPECT_GT(long_ones, kCases / 10);
  EXPECT_GT(wide_ones, kCases / 4);
}

}  // namespace
}  // namespace tilejit
