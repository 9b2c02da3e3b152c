// What verification takes of products, and what it finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/case_in_memory.hpp"

namespace tilejit {
namespace {

// The second product reads y as it is stored: what it should be, not what is in memory.
TEST(Products, AreVerifiedStepByStep) {
  CaseInMemory test({.tensors = {{"a", f32, "(3,4)"},
                                 {"b", f32, "(4,5)"},
                                 {"c", f32, "(5,2)"},
                                 {"y", bf16, "(3,5)"},
                                 {"z", f32, "(3,2)"}},
                     .formula = "y = a @ b; z = f32(y) @ c"});
  test::Random random(4);
  test.fill_reals(random);
  test.evaluate();
  EXPECT_TRUE(test.verify().passed);
  test.set(3, {1, 2}, test.at(3, {1, 2}) + 1);
  const Verification verified = test.verify();
  EXPECT_EQ(verified.mismatches, 1);
  EXPECT_THAT(verified.first_mismatch, testing::StartsWith("y(1,2)"));
}

TEST(Products, HaveBoundsForSumsInAnyOrder) {
  constexpr std::int64_t kSize = 300;
  CaseInMemory test({.tensors = {{"a", f32, "(2,300)"}, {"b", f32, "(300,2)"}, {"d", f32, "(2,2)"}},
                     .formula = "d = a @ b"});
  test::Random random(5);
  test.fill_reals(random);
  test.evaluate();
  float backwards = 0;
  for (std::int64_t k = kSize; k-- > 0;)
    backwards += static_cast<float>(test.at(0, {0, k})) * static_cast<float>(test.at(1, {k, 0}));
  const double exact = test.at(2, {0, 0});
  test.set(2, {0, 0}, backwards);
  EXPECT_TRUE(test.verify().passed);
  test.set(2, {0, 0}, exact + 1e-3 * kSize);
  EXPECT_FALSE(test.verify().passed);
}

// Of more than 2^32 products, some rows and columns are compared, and a part of the rest.
TEST(Products, OfLargeSizesAreSampled) {
  const Fused op{.tensors = {{"a", f32, "(2048,1030):(0,1)"},
                             {"b", f32, "(1030,2048):(0,0)"},
                             {"d", f32, "(2048,2048)"}},
                 .formula = "d = a @ b"};
  std::vector<float> a(1030, 1), b(1, 1), d(std::size_t{1} << 22, 1030);
  const HostArguments args{.tensors = {a.data(), b.data(), nullptr}};
  const std::vector<const void*> actual = {nullptr, nullptr, d.data()};
  const Verification right = verify(op, args, actual);
  EXPECT_TRUE(right.passed) << right.first_mismatch;
  EXPECT_GT(right.elements, 16 * 2048 * 2 - 16 * 16);
  EXPECT_LT(right.elements, 1 << 18);
  for (std::size_t row = 64; row < 128; ++row) {
    for (std::size_t column = 1024; column < 1088; ++column) d[row * 2048 + column] = 0;
  }
  EXPECT_FALSE(verify(op, args, actual).passed) << "a tile is missing";
  std::ranges::fill(d, 1030.0f);
  d[1000 * 2048 + 1001] = NAN;
  const Verification wrong = verify(op, args, actual);
  EXPECT_EQ(wrong.mismatches, 1);
  EXPECT_THAT(wrong.first_mismatch, testing::StartsWith("d row 1000, its sum with random signs"));
  d[1000 * 2048 + 1001] = 4096;
  EXPECT_FALSE(verify(op, args, actual).passed) << "one element of 2^22";
}

// What evaluating gives is within the bounds of verifying, for any formula.
TEST(Products, OfRandomFormulasAreWithinTheirBounds) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    test::Random random(seed);
    const test::RandomCase c = test::random_product(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + to_json(c.op));
    CaseInMemory test(c.op, c.symbols, c.scalars);
    test.fill_reals(random);
    test.evaluate();
    const Verification verified = test.verify();
    EXPECT_TRUE(verified.passed) << verified.first_mismatch;
  }
}

TEST(Products, TakeWhatIsNotFinite) {
  CaseInMemory test({.tensors = {{"a", f32, "(3,2)"}, {"b", f32, "(2,1)"}, {"d", f32, "(3,1)"}},
                     .formula = "d = a @ b"});
  test::Random random(6);
  test.fill_integers(random);
  test.set(0, {0, 0}, INFINITY);
  test.set(0, {1, 1}, NAN);
  test.set(1, {0, 0}, 2);
  test.evaluate();
  EXPECT_EQ(test.at(2, {0, 0}), INFINITY);
  EXPECT_TRUE(std::isnan(test.at(2, {1, 0})));
  EXPECT_TRUE(std::isfinite(test.at(2, {2, 0})));
  EXPECT_TRUE(test.verify().passed);
  test.set(2, {1, 0}, 1);
  EXPECT_EQ(test.verify().mismatches, 1);
}

}  // namespace
}  // namespace tilejit
