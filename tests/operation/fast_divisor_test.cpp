#include "operation/fast_divisor.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tilejit::operation {
namespace {

std::uint32_t divide(std::uint32_t n, const FastDivisor& by) {
  const auto high = static_cast<std::uint32_t>((std::uint64_t{n} * by.magic) >> 32);
  return (high + n) >> by.shift;
}

TEST(FastDivisor, EqualsDivision) {
  std::mt19937 random(20240611);
  std::vector<std::uint32_t> divisors = {1,   2,     3,     5,     7,          8,
                                         641, 65535, 65536, 65537, 0x7ffffffe, 0x7fffffff};
  for (int i = 0; i < 2000; ++i)
    divisors.push_back(1 + (random() & 0x7ffffffe) / (1u << (random() % 31)));
  for (const std::uint32_t d : divisors) {
    const FastDivisor by = make_divisor(d);
    std::vector<std::uint32_t> dividends = {0, 1, d - 1, d, 0x7fffffff, 0x7ffffffe};
    if (d <= 0x3fffffff) dividends.insert(dividends.end(), {2 * d - 1, 2 * d});
    for (int i = 0; i < 100; ++i) dividends.push_back(random() & 0x7fffffff);
    for (const std::uint32_t n : dividends) ASSERT_EQ(divide(n, by), n / d) << n << " / " << d;
  }
}

TEST(FastDivisor, LargeDivisorsKeepTheirValue) {
  const FastDivisor by = make_divisor(std::int64_t{1} << 40);
  EXPECT_EQ(by.divisor, std::uint64_t{1} << 40);
  EXPECT_EQ(by.magic, 0u);
}

}  // namespace
}  // namespace tilejit::operation
