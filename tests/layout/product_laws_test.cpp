// The definitions of products and divisions, pointwise on random layouts.
#include <gtest/gtest.h>

#include <algorithm>

#include "layout/domains.hpp"
#include "tilejit/layout_algebra.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {
namespace {

using Operation = Layout (*)(const Layout&, const Tiler&);

struct Variants {
  Operation logical, zipped, tiled, flat;
};
constexpr Variants kProducts = {logical_product, zipped_product, tiled_product, flat_product};
constexpr Variants kDivisions = {logical_divide, zipped_divide, tiled_divide, flat_divide};

class ProductLaws : public RandomDomains {
 protected:
  /// Tilers of every mode, or of the first ones only: integers and layouts.
  std::vector<Tiler> random_tilers(std::size_t most) {
    std::vector<Tiler> tilers;
    const std::int64_t count = pick(1, static_cast<std::int64_t>(most));
    for (std::int64_t k = 0; k < count; ++k) {
      if (pick(0, 1) == 0) {
        tilers.emplace_back(pick(1, 4));
      } else {
        tilers.emplace_back(compact_layout(random_shape(static_cast<int>(pick(1, 2)), 2)));
      }
    }
    return tilers;
  }
  /// An integer that divides the size of each mode.
  Integers random_tiles(const Layout& layout) {
    Integers tiles;
    for (const std::int64_t extent : sizes_of_modes(layout)) {
      std::int64_t tile = pick(1, extent);
      while (extent % tile != 0) --tile;
      tiles.push_back(tile);
    }
    return tiles;
  }
  static Tiler tiler_of(const Integers& tiles) {
    return std::vector<Tiler>(tiles.begin(), tiles.end());
  }

  /// Whether the variants were compared with the logical one: first what the tiler takes from each
  /// mode, then what it leaves, then the modes that it does not name.
  static bool are_rearranged(const Variants& variants, const Layout& layout,
                             const std::vector<Tiler>& tilers) {
    const auto logical = answer([&] { return variants.logical(layout, tilers); });
    if (!logical) return false;
    const Layout zipped = variants.zipped(layout, tilers);
    SCOPED_TRACE(to_string(layout) + " -> " + to_string(*logical) + ", " + to_string(zipped));
    const std::size_t named = tilers.size();
    Integers first, extents;
    for (std::size_t k = 0; k < named; ++k) first.push_back(sizes_of_modes(mode(*logical, k))[0]);
    extents = first;
    for (std::size_t k = 0; k < rank(*logical); ++k) {
      const Layout own = mode(*logical, k);
      extents.push_back(k < named ? size(mode(own, 1)).value() : size(own).value());
    }
    const Integers expected = for_all_digits(extents, [&](const Integers& digits) {
      std::int64_t value = 0;
      for (std::size_t k = 0; k < rank(*logical); ++k) {
        std::int64_t i = digits[named + k];
        if (k < named) i = digits[k] + first[k] * i;
        value += value_at(mode(*logical, k), i);
      }
      return value;
    });
    EXPECT_EQ(values_of(zipped), expected);
    EXPECT_EQ(values_of(variants.tiled(layout, tilers)), expected);
    EXPECT_EQ(values_of(variants.flat(layout, tilers)), expected);
    EXPECT_EQ(sorted(values_of(*logical)), sorted(expected));
    EXPECT_EQ(rank(zipped), 2u);
    EXPECT_EQ(sizes_of_modes(mode(zipped, 0)), first);
    return true;
  }
};

// The repetitions of a block are its complement at the tiler's numbers. CuTe's answer is another
// function if that composition is not exact.
TEST_F(ProductLaws, AProductRepeatsTheBlockInItsComplement) {
  int compared = 0, disjoint = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout block = injective_layout(3, 4), tiler = any_layout(2, 4);
    SCOPED_TRACE(to_string(block) + " times " + to_string(tiler));
    const auto product = answer([&] { return logical_product(block, tiler); });
    if (!product) continue;
    const Layout rest = complement(block, size(block) * cosize(tiler));
    if (!answer([&] { return composition(rest, tiler); })) continue;
    ++compared;
    ASSERT_EQ(mode(*product, 0), block);
    ASSERT_TRUE(compatible(tiler.shape(), mode(*product, 1).shape()));
    const Integers extents = {size(block).value(), size(tiler).value()};
    ASSERT_EQ(values_of(*product), for_all_digits(extents, [&](const Integers& c) {
                return value_at(block, c[0]) + value_at(rest, value_at(tiler, c[1]));
              }));
    // A complement with strides that do not divide may be too short and continue into the block.
    if (cosize(tiler) > size(rest).value() || !reaches_nothing_twice(tiler)) continue;
    ++disjoint;
    ASSERT_TRUE(reaches_nothing_twice(*product));
  }
  EXPECT_GT(compared, kCases / 2);
  EXPECT_GT(disjoint, kCases / 4);
}

// Compact blocks follow each other, whatever their internal order.
TEST_F(ProductLaws, CompactBlocksAreRepeatedBySize) {
  for (int n = 0; n < kCases; ++n) {
    const Layout block = compact_layout(random_shape(static_cast<int>(pick(1, 3)), 4));
    const Layout tiler = any_layout(2, 4);
    SCOPED_TRACE(to_string(block) + " times " + to_string(tiler));
    const std::int64_t elements = size(block).value();
    ASSERT_EQ(values_of(logical_product(block, tiler)),
              for_all_digits({elements, size(tiler).value()}, [&](const Integers& c) {
                return value_at(block, c[0]) + elements * value_at(tiler, c[1]);
              }));
  }
}

// In each mode, the coordinate in the block is the faster one, or the slower one.
TEST_F(ProductLaws, BlockedAndRakedProductsInterleaveTheLogicalOne) {
  int compared = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout block = injective_layout(3, 3), tiler = any_layout(3, 3);
    const auto logical = answer([&] { return logical_product(block, tiler); });
    if (!logical) continue;
    ++compared;
    const Layout blocked = blocked_product(block, tiler), raked = raked_product(block, tiler);
    SCOPED_TRACE(to_string(*logical) + " -> " + to_string(blocked) + ", " + to_string(raked));
    Integers inside = sizes_of_modes(block), outside = sizes_of_modes(tiler);
    const std::size_t modes = std::max(inside.size(), outside.size());
    inside.resize(modes, 1);
    outside.resize(modes, 1);
    ASSERT_EQ(rank(blocked), modes);
    ASSERT_EQ(rank(raked), modes);
    for (const bool is_raked : {false, true}) {
      Integers extents;
      for (std::size_t k = 0; k < modes; ++k) {
        extents.push_back(is_raked ? outside[k] : inside[k]);
        extents.push_back(is_raked ? inside[k] : outside[k]);
      }
      const Integers expected = for_all_digits(extents, [&](const Integers& digits) {
        Integers of_block, of_tiler;
        for (std::size_t k = 0; k < modes; ++k) {
          of_block.push_back(digits[2 * k + is_raked]);
          of_tiler.push_back(digits[2 * k + !is_raked]);
        }
        return value_at(block, number_of(of_block, inside)) +
               value_at(mode(*logical, 1), number_of(of_tiler, outside));
      });
      ASSERT_EQ(values_of(is_raked ? raked : blocked), expected);
    }
  }
  EXPECT_GT(compared, kCases / 2);
}

TEST_F(ProductLaws, VariantsOfAProductAreRearranged) {
  int compared = 0;
  for (int n = 0; n < kCases && !HasFailure(); ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 3)), 3);
    compared += are_rearranged(kProducts, a, random_tilers(rank(a)));
  }
  EXPECT_GT(compared, kCases / 2);
}

TEST_F(ProductLaws, VariantsOfADivisionAreRearranged) {
  int compared = 0;
  for (int n = 0; n < kCases && !HasFailure(); ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 3)), 5);
    compared += are_rearranged(kDivisions, a, random_tilers(rank(a)));
  }
  EXPECT_GT(compared, kCases / 2);
}

TEST_F(ProductLaws, ModesAreDividedAndMultipliedAlone) {
  int compared = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = random_layout(3, 4);
    std::vector<Tiler> tilers = random_tilers(3);
    if (pick(0, 1) == 0) tilers[0] = _;
    for (const Operation operation : {kProducts.logical, kDivisions.logical}) {
      const auto whole = answer([&] { return operation(a, tilers); });
      if (!whole) continue;
      SCOPED_TRACE(to_string(a) + " -> " + to_string(*whole));
      ++compared;
      for (std::size_t k = 0; k < 3; ++k) {
        const Layout own = mode(a, k);
        const bool is_named = k < tilers.size() && !tilers[k].is_underscore();
        ASSERT_EQ(mode(*whole, k), is_named ? operation(own, tilers[k]) : own);
      }
    }
  }
  EXPECT_GT(compared, kCases);
}

// Coordinate t of tile r is coordinate t + tile * r of the layout, mode by mode.
TEST_F(ProductLaws, TilesThatDivideEvenlyHoldConsecutiveCoordinates) {
  int compared = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 3)), 6);
    const Integers tiles = random_tiles(a), sizes = sizes_of_modes(a);
    const Tiler tiler = tiler_of(tiles);
    if (!evenly_divides(a.shape(), tiler)) continue;
    const auto zipped = answer([&] { return zipped_divide(a, tiler); });
    if (!zipped) continue;
    ++compared;
    SCOPED_TRACE(to_string(a) + " -> " + to_string(*zipped));
    Integers extents = tiles;
    for (std::size_t k = 0; k < tiles.size(); ++k) extents.push_back(sizes[k] / tiles[k]);
    ASSERT_EQ(values_of(*zipped), for_all_digits(extents, [&](const Integers& digits) {
                Integers coordinate;
                for (std::size_t k = 0; k < tiles.size(); ++k) {
                  coordinate.push_back(digits[k] + tiles[k] * digits[k + tiles.size()]);
                }
                return value_at(a, number_of(coordinate, sizes));
              }));
  }
  EXPECT_GT(compared, kCases / 2);
}

TEST_F(ProductLaws, OverhangingTilesMissNothing) {
  int overhanging = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = any_layout(3, 5);
    Integers tiles;
    for (std::size_t k = 0; k < rank(a); ++k) tiles.push_back(pick(1, 6));
    const Tiler tiler = pick(0, 1) == 0 ? Tiler(tiles[0]) : tiler_of(tiles);
    const auto divided = answer([&] { return logical_divide(a, tiler); });
    if (!divided) continue;
    overhanging += size(*divided) != size(a);
    SCOPED_TRACE(to_string(a) + " -> " + to_string(*divided));
    ASSERT_GE(size(*divided).value(), size(a).value());
    ASSERT_TRUE(std::ranges::includes(distinct(values_of(*divided)), distinct(values_of(a))));
  }
  EXPECT_GT(overhanging, kCases / 4);
}

// The tile is the layout at the tiler's numbers, and the tiler's complement shifts the tiles; if
// these fill the domain, every element occurs as often as before.
TEST_F(ProductLaws, ADivisionByALayoutIsACompositionWithItsTiles) {
  int compared = 0, whole = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = any_layout(3, 5), b = injective_layout(2, 3);
    const auto divided = answer([&] { return logical_divide(a, b); });
    if (!divided) continue;
    const Layout rest = complement(b, coalesce(a).shape());
    const Layout tiles = make_layout({b, rest});
    if (!answer([&] { return composition(a, tiles); })) continue;
    ++compared;
    SCOPED_TRACE(to_string(a) + " by " + to_string(b) + " -> " + to_string(*divided));
    const Integers extents = {size(b).value(), size(rest).value()};
    ASSERT_EQ(values_of(*divided), for_all_digits(extents, [&](const Integers& c) {
                return value_at(a, value_at(b, c[0]) + value_at(rest, c[1]));
              }));
    if (size(tiles) != size(a) || cosize(tiles) != size(a).value()) continue;
    ++whole;
    ASSERT_EQ(sorted(values_of(*divided)), sorted(values_of(a)));
  }
  EXPECT_GT(compared, kCases / 4);
  EXPECT_GT(whole, kCases / 10);
}

}  // namespace
}  // namespace tilejit
