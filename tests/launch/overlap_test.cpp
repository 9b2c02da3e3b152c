#include "launch/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tilejit::launch {
namespace {

/// A footprint with its own storage.
struct Tensor {
  std::uint64_t address;
  std::vector<std::int64_t> extents, strides;
  std::int64_t element_bytes;

  [[nodiscard]] Footprint footprint() const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) last += (extents[i] - 1) * strides[i];
    return {address, extents, strides, element_bytes, (last + 1) * element_bytes};
  }
  [[nodiscard]] std::set<std::uint64_t> bytes() const {
    std::set<std::uint64_t> all;
    std::vector<std::int64_t> coord(extents.size(), 0);
    while (true) {
      std::int64_t index = 0;
      for (std::size_t i = 0; i < coord.size(); ++i) index += coord[i] * strides[i];
      for (std::int64_t byte = 0; byte < element_bytes; ++byte) {
        all.insert(address + static_cast<std::uint64_t>(index * element_bytes + byte));
      }
      std::size_t i = 0;
      while (i < coord.size() && ++coord[i] == extents[i]) coord[i++] = 0;
      if (i == coord.size()) return all;
    }
  }
};

struct Case {
  const char* name;
  Tensor a, b;
  bool shares;
};

const Case kCases[] = {
    {"apart", {0x1000, {4}, {1}, 4}, {0x2000, {4}, {1}, 4}, false},
    {"end to end", {0x1000, {4}, {1}, 4}, {0x1010, {4}, {1}, 4}, false},
    {"one byte too early", {0x1000, {4}, {1}, 4}, {0x100F, {4}, {1}, 1}, true},
    {"same", {0x1000, {4}, {1}, 4}, {0x1000, {4}, {1}, 4}, true},
    {"left and right half of a matrix",
     {0x1000, {1024, 512}, {1024, 1}, 2},
     {0x1000 + 1024, {1024, 512}, {1024, 1}, 2},
     false},
    {"halves that overlap by a column",
     {0x1000, {1024, 513}, {1024, 1}, 2},
     {0x1000 + 1024, {1024, 512}, {1024, 1}, 2},
     true},
    {"even and odd columns",
     {0x1000, {64, 64}, {128, 2}, 4},
     {0x1004, {64, 64}, {128, 2}, 4},
     false},
    {"even rows and all columns",
     {0x1000, {32, 64}, {128, 1}, 4},
     {0x1000, {64, 32}, {64, 2}, 4},
     true},
    {"inside a gap", {0x1000, {2}, {100}, 4}, {0x1010, {8}, {1}, 4}, false},
    {"broadcast", {0x1000, {8, 8}, {0, 1}, 4}, {0x1010, {8}, {1}, 4}, true},
    {"beyond the limit of the search", {0, {1LL << 60}, {2}, 8}, {8, {1LL << 60}, {2}, 8}, true},
};

TEST(ShareMemory, DecidesUsualLayoutsExactly) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Footprint a = c.a.footprint();
    Footprint b = c.b.footprint();
    if (a.bytes < 0) a.bytes = b.bytes = std::numeric_limits<std::int64_t>::max();  // too large
    EXPECT_EQ(share_memory(a, b), c.shares);
    EXPECT_EQ(share_memory(b, a), c.shares);
  }
}

TEST(ShareMemory, AgreesWithEnumerationOnRandomLayouts) {
  std::mt19937 random(20250101);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int sharing = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    const auto tensor = [&] {
      Tensor t{static_cast<std::uint64_t>(pick(1000, 1060)), {}, {}, std::int64_t{1} << pick(0, 3)};
      for (std::int64_t rank = pick(0, 3); rank > 0; --rank) {
        t.extents.push_back(pick(1, 4));
        t.strides.push_back(pick(0, 12));
      }
      return t;
    };
    const Tensor a = tensor();
    const Tensor b = tensor();
    const auto left = a.bytes();
    const auto right = b.bytes();
    const bool want = std::any_of(left.begin(), left.end(),
                                  [&](std::uint64_t byte) { return right.contains(byte); });
    ASSERT_EQ(share_memory(a.footprint(), b.footprint()), want) << "round " << round;
    sharing += want ? 1 : 0;
  }
  EXPECT_GT(sharing, kRounds / 10);  // both outcomes were seen
  EXPECT_LT(sharing, kRounds * 9 / 10);
}

TEST(ShareMemory, GivesUpOnManyLeavesAndSaysYes) {
  std::vector<std::int64_t> extents(40, 2);
  std::vector<std::int64_t> strides;
  for (int i = 0; i < 40; ++i) strides.push_back((std::int64_t{1} << i) * 2);
  const Footprint even{1000, extents, strides, 1, (std::int64_t{1} << 41) - 1};
  const Footprint odd{1001, extents, strides, 1, (std::int64_t{1} << 41) - 1};
  EXPECT_TRUE(share_memory(even, odd));
}

}  // namespace
}  // namespace tilejit::launch
