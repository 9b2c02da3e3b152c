// Plans of matrix products: how operands are read, which tile is taken, and what tuning may ask.
#include <gtest/gtest.h>

#include "matmul/shared_layout.hpp"
#include "plan/plan.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

// Products here are those of warps: sm_90 has no wgmma.
constexpr Target kWarps = {.major = 9, .minor = 0, .feature = 0};

Plan plan_of_product(const std::vector<Tensor>& tensors, const Tuning& tuning = {},
                     const Target& target = kWarps) {
  const Fused op{.tensors = tensors, .formula = "d = a @ b", .tuning = tuning};
  Plan plan = make_plan(op, formula::analyze(op), target);
  EXPECT_LE(parts_of(plan).size(), 2u) << "an operand is copied, at most";
  return parts_of(plan).back();
}

Plan plan_of_size(DType type, int m, int n, int k, const Tuning& tuning = {},
                  const Target& target = kWarps) {
  const auto matrix = [&](int rows, int columns) {
    return Layout(IntTuple{rows, columns}, IntTuple{columns, 1});
  };
  return plan_of_product(
      {{"a", type, matrix(m, k)}, {"b", type, matrix(k, n)}, {"d", type, matrix(m, n)}}, tuning,
      target);
}

struct SourceCase {
  const char* a;
  DType type;
  int align;
  atoms::Major major;
  int run;
};

TEST(ProductPlan, OperandsAreReadByTheLongestRunsThatTheirLayoutsAllow) {
  constexpr SourceCase kCases[] = {
      {"(512,512):(512,1)", bf16, 16, atoms::Major::k, 8},
      {"(512,512):(512,1)", bf16, 4, atoms::Major::k, 2},
      {"(512,512):(1,512)", bf16, 16, atoms::Major::mn, 8},
      {"(512,512):(1,516)", bf16, 16, atoms::Major::mn, 4},
      {"(512,512):(513,1)", bf16, 16, atoms::Major::k, 1},
      {"(512,512):(1024,2)", bf16, 16, atoms::Major::k, 1},
      {"((16,32),512):((1,8192),16)", bf16, 16, atoms::Major::mn, 8},
      {"((4,128),512):((1,2048),4)", bf16, 16, atoms::Major::mn, 4},
      {"(512,512):(512,1)", f64, 16, atoms::Major::k, 2},
      {"(512,512):(1,512)", f32, 16, atoms::Major::mn, 4},
      {"(512,512):(512,1)", f32, 16, atoms::Major::k, 1},  // turned on its way
      {"(512,512):(512,1)", i8, 16, atoms::Major::k, 16},
      {"(512,512):(1,512)", i8, 16, atoms::Major::mn, 16},
  };
  for (const SourceCase& c : kCases) {
    SCOPED_TRACE(std::string(c.a) + " " + std::string(to_string(c.type)));
    Tensor a{"a", c.type, c.a};
    a.align = c.align;
    const Plan plan = plan_of_product(
        {a, {"b", c.type, "(512,512):(512,1)"}, {"d", c.type == i8 ? i32 : c.type, "(512,512)"}});
    const Matmul* const product = matmul_of(plan);
    ASSERT_NE(product, nullptr);
    EXPECT_EQ(product->a.run, c.run);
    if (c.run > 1) {
      EXPECT_EQ(product->a.major, c.major);
    }
  }
}

TEST(ProductPlan, SmallProductsHaveSmallTilesAndLongOnesAreSplit) {
  struct Case {
    int m, n, k, tile_m, tile_n;
    bool split;
  };
  constexpr Case kCases[] = {
      {4096, 4096, 4096, 128, 256, false}, {1024, 1024, 1024, 64, 64, false},
      {64, 64, 16384, 64, 64, true},       {128, 4096, 4096, 64, 64, true},
      {40, 40, 40, 64, 64, false},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::to_string(c.m) + " x " + std::to_string(c.n) + " x " + std::to_string(c.k));
    const Plan plan = plan_of_size(bf16, c.m, c.n, c.k);
    const Matmul& product = *matmul_of(plan);
    EXPECT_EQ(product.tile.m, c.tile_m);
    EXPECT_EQ(product.tile.n, c.tile_n);
    EXPECT_EQ(product.splits > 1, c.split) << product.splits;
    const auto launch = launch_plan(plan);
    EXPECT_EQ(launch.workspaces.size(), c.split ? 1u : 0u);
  }
}

TEST(ProductPlan, OfEveryTargetFitsItsSharedMemory) {
  constexpr std::pair<const char*, int> kTargets[] = {{"sm_80", 163},   {"sm_86", 99},
                                                      {"sm_89", 99},    {"sm_90a", 227},
                                                      {"sm_100a", 227}, {"sm_120a", 99}};
  for (const auto& [target, kilobytes] : kTargets) {
    for (const DType type : {f16, tf32, f32, f64}) {
      SCOPED_TRACE(std::string(target) + " " + std::string(to_string(type)));
      for (const int size : {64, 512, 4096}) {
        const DType d = type == tf32 ? f32 : type;
        const Layout square(IntTuple{size, size}, IntTuple{size, 1});
        const Plan plan = plan_of_product(
            {{"a", type, square}, {"b", type, square}, {"d", d, square}}, {}, parse_target(target));
        EXPECT_LE(dynamic_shared_bytes(plan), kilobytes * 1024);
        EXPECT_GE(matmul_of(plan)->tile.stages, 2);
      }
    }
  }
}

TEST(ProductPlan, TakesTheTileAndTheSplitsThatTuningAsksFor) {
  const Plan plan = plan_of_size(bf16, 4096, 4096, 4096, {.tile = {{64, 128}}, .splits = 3});
  EXPECT_EQ(matmul_of(plan)->tile.m, 128);
  EXPECT_EQ(matmul_of(plan)->tile.n, 64);
  EXPECT_EQ(matmul_of(plan)->splits, 3);
}

TEST(ProductPlan, RefusesTuningThatSaysNothingOfProducts) {
  const std::pair<Tuning, const char*> kWrong[] = {
      {{.threads = 128}, "/tuning/threads"},  {{.unroll = 2}, "/tuning/unroll"},
      {{.tile = {{32, 32}}}, "/tuning/tile"}, {{.row_threads = 8}, "/tuning/row_threads"},
      {{.cluster = 2}, "/tuning/cluster"},    {{.register_vectors = 1}, "/tuning/register_vectors"},
  };
  for (const auto& [tuning, where] : kWrong) {
    SCOPED_TRACE(where);
    try {
      (void)plan_of_size(bf16, 512, 512, 512, tuning);
      ADD_FAILURE() << "planned";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
      EXPECT_EQ(error.where(), where);
    }
  }
  try {
    (void)plan_of_product(
        {{"a", bf16, "(M,512)"}, {"b", bf16, "(512,512)"}, {"d", bf16, "(M,512)"}}, {.splits = 2});
    ADD_FAILURE() << "splits tiles of unknown number";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "/tuning/splits");
  }
}

}  // namespace
}  // namespace tilejit::plan
