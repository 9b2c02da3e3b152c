// Integers to f32 were not rounded, not even by a cast, and 64-bit ones were rounded to f64 first.
#include "support/conversions.hpp"

#include <gtest/gtest.h>

#include "arithmetic/cast.hpp"
#include "arithmetic/convert.hpp"
#include "reference/cast.hpp"
#include "reference/host_operation.hpp"

namespace tilejit::reference {
namespace {

using test::Conversion;

TEST(Conversion, RoundsIntegersOnce) {
  for (const Conversion& row : test::kConversions) {
    EXPECT_EQ(cast_integer(row.from, row.to, row.value), row.want)
        << to_string(row.from) << " to " << to_string(row.to) << " of " << row.value;
  }
}

std::int64_t random_integer(std::uint64_t bits, DType from) {
  const auto kept = static_cast<int>(bits % 64);  // of every length
  return wrap((bits * 0x9e3779b97f4a7c15u) >> kept, from);
}

// The processor's own conversions round once.
TEST(Conversion, AgreesWithTheProcessor) {
  for (std::uint64_t i = 1; i < 200000; ++i) {
    const std::int64_t x = random_integer(i * 0xda942042e4dd58b5u, i64);
    const auto u = static_cast<std::uint64_t>(x);
    ASSERT_EQ(cast_integer(i64, f32, x), static_cast<double>(static_cast<float>(x))) << x;
    ASSERT_EQ(cast_integer(i64, f64, x), static_cast<double>(x)) << x;
    ASSERT_EQ(cast_integer(u64, f32, x), static_cast<double>(static_cast<float>(u))) << u;
    ASSERT_EQ(cast_integer(u64, f64, x), static_cast<double>(u)) << u;
  }
}

void expect_converted(DType from, DType to) {
  const std::vector<Conversion> rows = test::conversions(from, to);
  if (rows.empty()) return;
  SCOPED_TRACE(std::string(to_string(from)) + " to " + std::string(to_string(to)));
  HostOperation operation(test::conversion_op(from, to, rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    store_integer(from, rows[i].value, operation.address(0, i));
    operation.set(1, i, rows[i].want);
  }
  operation.run();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(operation.get(2, i), rows[i].want) << "stored, of " << rows[i].value;
    EXPECT_EQ(operation.get(3, i), rows[i].want) << "cast, of " << rows[i].value;
    EXPECT_EQ(operation.get(4, i), 1) << "compared, of " << rows[i].value;
  }
  EXPECT_TRUE(operation.check().passed);
  operation.set(3, 0, 1.25);  // the bound of an exact operand is 0
  EXPECT_FALSE(operation.check().passed);
}

TEST(Conversion, IsTheSameInFormulas) {
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) expect_converted(from, to);
  }
}

// Issue 16: 16777217 came back unchanged from f32, and compared equal to itself there.
TEST(Conversion, ToF32AndBack) {
  HostOperation operation({.tensors = {{"x", i32, "1:1"}, {"y", i32, "1:1"}, {"e", b8, "1:1"}},
                           .formula = "y = i32(f32(x)); e = f32(x) == 16777216.0"});
  operation.set(0, 0, 16777217);
  operation.run();
  EXPECT_EQ(operation.get(1, 0), 16777216);
  EXPECT_EQ(operation.get(2, 0), 1);
}

}  // namespace
}  // namespace tilejit::reference
