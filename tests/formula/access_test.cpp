// How a formula accesses each tensor, according to the public function.
#include <gtest/gtest.h>

#include "tilejit/error.hpp"
#include "tilejit/operation.hpp"

namespace tilejit {
namespace {

Tensor tensor(const char* name, Access access = Access::automatic) {
  return {.name = name, .dtype = f32, .layout = "(M,8):(8,1)", .access = access};
}

TEST(ResolveAccess, FollowsTheFormulaUnlessGiven) {
  struct Row {
    const char* name;
    Access x, y;  // as given
    const char* formula;
    std::vector<Access> want;
  };
  const Row rows[] = {
      {"read and written",
       Access::automatic,
       Access::automatic,
       "y = x",
       {Access::in, Access::out}},
      {"the order is the declaration's",
       Access::automatic,
       Access::automatic,
       "x = y",
       {Access::out, Access::in}},
      {"given as they are", Access::in, Access::out, "y = x", {Access::in, Access::out}},
      {"in place", Access::automatic, Access::inout, "y = y + x", {Access::in, Access::inout}},
      {"two outputs",
       Access::automatic,
       Access::automatic,
       "x = 1.0; y = 2.0",
       {Access::out, Access::out}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Fused op{
        .name = "k", .tensors = {tensor("x", row.x), tensor("y", row.y)}, .formula = row.formula};
    EXPECT_EQ(resolve_access(op), row.want);
  }
}

TEST(ResolveAccess, RefusesWhatValidateRefuses) {
  const Fused op{.name = "k", .tensors = {tensor("x"), tensor("y")}, .formula = "y = q"};
  EXPECT_THROW((void)resolve_access(op), Error);
}

}  // namespace
}  // namespace tilejit
