// Which kernels attentions have: by warpgroups or by warps, with which tiles.
#include <gtest/gtest.h>

#include "attention/family.hpp"
#include "device/device.hpp"
#include "plans.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

Plan attention(const std::string& rows, const std::string& target, const Tuning& tuning = {},
               const std::string& score = "s") {
  const Fused op{
      .tensors = {{"q", bf16, rows}, {"k", bf16, rows}, {"v", bf16, rows}, {"y", bf16, rows}},
      .formula =
          "s = q @ k.T * 0.125; t = " + score + "; e = exp(t - max(t)); y = bf16(e / sum(e)) @ v",
      .tuning = tuning};
  return plan_of(op, parse_target(target));
}

const AttentionMma* warps_of(const Plan& plan) {
  return parts_of(plan).size() == 1 ? std::get_if<AttentionMma>(&parts_of(plan).front().family)
                                    : nullptr;
}

TEST(AttentionPlan, HasAKernelFromSm80On) {
  for (const char* const target : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100a", "sm_120a"})
    EXPECT_NE(warps_of(attention("(4,16,4096,128)", target)), nullptr) << target;
  EXPECT_EQ(parts_of(attention("(4,16,4096,128)", "sm_75")).size(), 3U);
  const Plan by_warpgroups = attention("(4,16,4096,128)", "sm_90a");
  EXPECT_TRUE(std::holds_alternative<AttentionWgmma>(parts_of(by_warpgroups).front().family));
}

TEST(AttentionPlan, TakesWarpsWhereTensorMapsCannotShowTheBatches) {
  EXPECT_NE(warps_of(attention("(2,2,2,2,256,64)", "sm_90a")), nullptr);
}

/// Two blocks have room on a multiprocessor.
TEST(AttentionPlan, ChoosesTilesBySharedMemoryAndByFormulas) {
  struct Case {
    const char *what, *rows, *target, *score;
    int queries, keys, slots;
  };
  constexpr Case kCases[] = {
      {"much memory", "(4,16,4096,128)", "sm_100a", "s", 128, 64, 4},
      {"a compiler that takes registers", "(4,16,4096,128)", "sm_90", "s", 128, 32, 4},
      {"less", "(4,16,4096,128)", "sm_80", "s", 128, 64, 3},
      {"little", "(4,16,4096,128)", "sm_86", "s", 128, 32, 2},
      {"narrow", "(4,16,4096,64)", "sm_120a", "s", 128, 64, 4},
      {"a formula that takes registers", "(4,16,4096,128)", "sm_100a", "20 * tanh(s)", 128, 32, 4},
      {"few tiles", "(2,3,256,128)", "sm_90", "s", 64, 64, 4},
      {"symbols", "(B,16,S,128)", "sm_100a", "s", 128, 64, 4},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.what);
    const Plan plan = attention(c.rows, c.target, {}, c.score);
    const AttentionMma* const warps = warps_of(plan);
    ASSERT_NE(warps, nullptr);
    EXPECT_EQ(warps->tile.m, c.queries);
    EXPECT_EQ(warps->tile.k, c.keys);
    EXPECT_EQ(warps->tile.stages, c.slots);
    const int all = device::device_of(plan.target).shared_bytes;
    EXPECT_LE(2 * (attention_shared_bytes(*warps) + 1024), all);
  }
}

TEST(AttentionPlan, TakesThreadsAndTilesThatArePinned) {
  EXPECT_NE(warps_of(attention("(4,16,4096,128)", "sm_90a", {.threads = 128})), nullptr);
  EXPECT_EQ(warps_of(attention("(4,16,4096,128)", "sm_90a", {.threads = 384})), nullptr);
  EXPECT_EQ(warps_of(attention("(4,16,4096,128)", "sm_90a", {.tile = {{128, 128}}})), nullptr);
  const Plan plan = attention("(4,16,4096,128)", "sm_90a", {.tile = {{128, 64}}});
  ASSERT_NE(warps_of(plan), nullptr);
  EXPECT_EQ(warps_of(plan)->tile.m, 64);
}

TEST(AttentionPlan, RefusesOtherKnobs) {
  struct Case {
    const char* where;
    Tuning tuning;
  };
  const Case kCases[] = {{"/tuning/threads", {.threads = 256}},
                         {"/tuning/tile", {.tile = {{64, 64}}}},
                         {"/tuning/tile", {.tile = {{128, 32}}}},
                         {"/tuning", {.splits = 2}}};
  for (const Case& c : kCases) {
    try {
      (void)attention("(4,16,4096,128)", "sm_90", c.tuning);
      ADD_FAILURE() << c.where;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
      EXPECT_EQ(error.where(), c.where);
    }
  }
}

}  // namespace
}  // namespace tilejit::plan
