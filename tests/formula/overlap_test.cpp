// Layouts of known numbers: do two coordinates have the same index?
#include "formula/overlap.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tilejit::formula {
namespace {

Overlap by_counting(const std::vector<KnownMode>& modes) {
  std::set<std::int64_t> indices = {0};
  std::size_t count = 1;
  for (const KnownMode& mode : modes) {
    std::set<std::int64_t> next;
    for (const std::int64_t index : indices) {
      for (std::int64_t x = 0; x < mode.extent; ++x) next.insert(index + x * mode.stride);
    }
    indices = std::move(next);
    count *= static_cast<std::size_t>(mode.extent);
  }
  return indices.size() == count ? Overlap::none : Overlap::found;
}

TEST(Overlap, AgreesWithCounting) {
  std::mt19937_64 random(20);
  int none = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<KnownMode> modes(random() % 5);
    std::string text;
    for (KnownMode& mode : modes) {
      mode = {static_cast<std::int64_t>(2 + random() % 4),
              static_cast<std::int64_t>(1 + random() % 40)};
      text += std::to_string(mode.extent) + ":" + std::to_string(mode.stride) + " ";
    }
    const Overlap expected = by_counting(modes);
    none += expected == Overlap::none;
    ASSERT_EQ(find_overlap(modes), expected) << text;
  }
  EXPECT_GT(none, 5'000);
  EXPECT_LT(none, 15'000);
}

TEST(Overlap, LargeModes) {
  constexpr std::int64_t kMost = INT64_MAX, kMillion = 1'000'000;
  struct Row {
    std::vector<KnownMode> modes;
    Overlap overlap;
  };
  const Row rows[] = {
      {{{kMillion, kMillion}, {kMillion, 1}}, Overlap::none},
      {{{kMillion, kMillion - 1}, {kMillion, 1}}, Overlap::found},
      {{{kMillion, kMillion + 1}, {kMillion, kMillion}}, Overlap::none},  // coprime, interleaved
      {{{kMillion + 1, kMillion + 1}, {kMillion + 2, kMillion}}, Overlap::found},
      {{{2, kMost}, {kMost / 4, kMost - 1}, {2, kMost - 2}}, Overlap::found},
      {{{kMost / 2, kMost}}, Overlap::none},
      {std::vector<KnownMode>(62, KnownMode{2, 1}), Overlap::found},
      // No two of the three overlap, and their common multiples are far away.
      {{{kMillion, 1'000'000'000'039}, {kMillion, 1'000'000'000'061}, {kMillion, 999'999'999'989}},
       Overlap::unknown},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(find_overlap(row.modes), row.overlap)
        << row.modes[0].extent << ":" << row.modes[0].stride << " ...";
  }
}

}  // namespace
}  // namespace tilejit::formula
