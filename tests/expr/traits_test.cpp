#include "expr/traits.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilejit::expr {
namespace {

TEST(Traits, HaveARowForEveryOperation) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Op::scan_max); ++i) {
    const auto op = static_cast<Op>(i);
    EXPECT_TRUE(names.insert(traits(op).name).second) << i;
    EXPECT_FALSE(traits(op).name.empty()) << i;
    EXPECT_GE(traits(op).accuracy.f32, 0.5) << traits(op).name;
  }
  EXPECT_EQ(to_string(Op::exp), "exp");
  EXPECT_EQ(to_string(Op::scan_max), "scan_max");
}

TEST(Traits, ComeInTheOrderOfTheOperations) {
  EXPECT_EQ(traits(Op::add).infix, "+");
  EXPECT_EQ(traits(Op::gt).infix, ">");
  EXPECT_EQ(traits(Op::round).builtin, "rint");
  EXPECT_EQ(traits(Op::silu).approximation, "math::fast_silu");
  EXPECT_EQ(traits(Op::clamp).cost.plain, 2);
  EXPECT_EQ(traits(Op::reduce_sum).weight, 8);
}

}  // namespace
}  // namespace tilejit::expr
