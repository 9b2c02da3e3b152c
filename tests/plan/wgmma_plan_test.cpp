// Plans of products by warpgroups: for which operands, with which tiles, and what tensor maps show.
#include "wgmma/wgmma_plan.hpp"

#include <gtest/gtest.h>

#include "plans.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

constexpr int kBytesOfBlock = 227 * 1024;

Plan part_of(const std::vector<Tensor>& tensors, const Tuning& tuning = {},
             const Target& target = kHopper, const std::string& formula = "d = a @ b") {
  return parts_of(plan_of({.tensors = tensors, .formula = formula, .tuning = tuning}, target))
      .front();
}

/// Of row-major a and column-major b.
Plan part_of_size(int m, int n, int k, DType type = bf16, const Tuning& tuning = {},
                  const Target& target = kHopper) {
  const DType d = type == tf32 ? f32 : type == i8 ? i32 : type;
  return part_of({{"a", type, Layout(IntTuple{m, k}, IntTuple{k, 1})},
                  {"b", type, Layout(IntTuple{k, n}, IntTuple{1, k})},
                  {"d", d, Layout(IntTuple{m, n}, IntTuple{n, 1})}},
                 tuning, target);
}

const MatmulWgmma* wgmma_of(const Plan& plan) {
  return std::get_if<MatmulWgmma>(&plan.family);
}

TEST(WgmmaPlan, IsForOperandsThatTensorMapsCanShow) {
  struct Case {
    const char *what, *a, *b;
    DType type;
    int align;
    bool taken;
    bool copied = false;
  };
  constexpr Case kCases[] = {
      {"both along K", "(2048,2048):(2048,1)", "(2048,2048):(1,2048)", bf16, 16, true},
      {"neither along K", "(2048,2048):(1,2048)", "(2048,2048):(2048,1)", f16, 16, true},
      {"rows apart", "(2048,2048):(2056,1)", "(2048,2048):(1,2048)", f16, 16, true},
      {"symbols", "(M,2048):(2048,1)", "(2048,N):(1,2048)", bf16, 16, true},
      {"batches", "(3,2048,2048):(4194304,2048,1)", "(2048,2048):(1,2048)", bf16, 16, true},
      {"tf32", "(2048,2048):(2048,1)", "(2048,2048):(1,2048)", tf32, 16, true},
      {"bytes", "(2048,2048):(2048,1)", "(2048,2048):(1,2048)", i8, 16, true},
      {"odd rows", "(2048,2048):(2049,1)", "(2048,2048):(1,2048)", bf16, 16, true, true},
      {"an odd address", "(2048,2048):(2048,1)", "(2048,2048):(1,2048)", bf16, 8, true, true},
      {"32 bits along M", "(2048,2048):(1,2048)", "(2048,2048):(1,2048)", tf32, 16, true},
      {"32 bits along N", "(2048,2048):(2048,1)", "(2048,2048):(2048,1)", tf32, 16, true},
      {"32 bits along both", "(2048,2048):(1,2048)", "(2048,2048):(2048,1)", tf32, 16, true, true},
      {"bytes along M", "(2048,2048):(1,2048)", "(2048,2048):(1,2048)", i8, 16, true, true},
      {"nested", "((4,512),2048):((1,8192),4)", "(2048,2048):(1,2048)", bf16, 16, true, true},
      {"repeated rows", "(2048,2048):(0,1)", "(2048,2048):(1,2048)", bf16, 16, false},
      {"fewer bits in sums than promised", "(2048,2048):(2048,1)", "(2048,2048):(1,2048)", f8e4m3,
       16, false},
      {"no tensor cores", "(2048,2048):(2048,1)", "(2048,2048):(1,2048)", f32, 16, false},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.what);
    Tensor a{"a", c.type, c.a};
    a.align = c.align;
    const std::string d = c.what == std::string("symbols")   ? "(M,N):(N,1)"
                          : c.what == std::string("batches") ? "(3,2048,2048)"
                                                             : "(2048,2048)";
    const DType type = c.type == i8 ? i32 : c.type == tf32 ? f32 : c.type == f8e4m3 ? bf16 : c.type;
    const Plan plan = plan_of(
        {.tensors = {a, {"b", c.type, c.b}, {"d", type, d.c_str()}}, .formula = "d = a @ b"},
        kHopper);
    const Plan& part = parts_of(plan).back();
    EXPECT_EQ(wgmma_of(part) != nullptr, c.taken) << template_name(part);
    EXPECT_EQ(parts_of(plan).size(), c.copied ? 2U : 1U);
    if (c.copied) operation::check_tensor_maps(plan.signature, launch_plan(plan));
  }
  EXPECT_NE(wgmma_of(part_of_size(2048, 2048, 2048)), nullptr);
  for (const char* target : {"sm_80", "sm_90", "sm_100a", "sm_120a"}) {
    EXPECT_EQ(wgmma_of(part_of_size(2048, 2048, 2048, bf16, {}, parse_target(target))), nullptr)
        << target;
  }
}

// A small product with odd rows is multiplied before copies would have been started.
TEST(WgmmaPlan, CopiesNoOperandsIfThatTakesLonger) {
  const Plan plan =
      plan_of({.tensors = {{"a", bf16, "(65,67)"}, {"b", bf16, "(67,69)"}, {"d", bf16, "(65,69)"}},
               .formula = "d = a @ b"},
              kHopper);
  EXPECT_EQ(parts_of(plan).size(), 1U);
}

TEST(WgmmaPlan, FillsTheDeviceWithTiles) {
  struct Case {
    int m, n, k, tile_m, tile_n;
  };
  constexpr Case kCases[] = {
      {4096, 4096, 4096, 128, 256}, {2048, 2048, 2048, 128, 256}, {3000, 3000, 3000, 192, 192},
      {3128, 3320, 2952, 256, 160}, {3072, 3072, 3072, 192, 192}, {4096, 2112, 7168, 192, 176},
      {512, 8192, 8192, 128, 256},  {1024, 1024, 1024, 64, 152},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::to_string(c.m) + " x " + std::to_string(c.n) + " x " + std::to_string(c.k));
    const Plan part = part_of_size(c.m, c.n, c.k);
    ASSERT_NE(wgmma_of(part), nullptr);
    EXPECT_EQ(wgmma_of(part)->tile.m, c.tile_m);
    EXPECT_EQ(wgmma_of(part)->tile.n, c.tile_n);
    EXPECT_GT(wgmma_of(part)->blocks_of_cluster(), 1);
  }
}

TEST(WgmmaPlan, TakesTurnsIfFormulasTakeLongBesideProducts) {
  for (const int k : {1024, 4096}) {
    const Plan part = part_of({{"a", bf16, Layout(IntTuple{8192, k}, IntTuple{k, 1})},
                               {"b", bf16, Layout(IntTuple{k, 8192}, IntTuple{1, k})},
                               {"c", bf16, "8192:1"},
                               {"d", bf16, "(8192,8192)"}},
                              {}, kHopper, "d = gelu(a @ b + c)");
    ASSERT_NE(wgmma_of(part), nullptr);
    EXPECT_EQ(wgmma_of(part)->takes_turns, k == 1024);
  }
}

/// What a launch would hand to the driver is right, and a stage is what the boxes bring.
void expect_boxes(const Plan& part) {
  const MatmulWgmma& product = *wgmma_of(part);
  operation::check_tensor_maps(part.signature, launch_plan(part));
  EXPECT_LE(dynamic_shared_bytes(part), kBytesOfBlock);
  EXPECT_GE(product.tile.stages, 2);
  int bytes = 0;
  for (const atoms::Operand operand : {atoms::Operand::a, atoms::Operand::b}) {
    const BoxesOfTile boxes = boxes_of(product, operand);
    const operation::TensorMap map = tensor_map(part, product, operand);
    int elements = 1;
    for (const operation::TensorMap::Mode& mode : map.modes) elements *= mode.box;
    EXPECT_EQ(elements, boxes.extent * boxes.depth);
    bytes += boxes.count * boxes.extent * boxes.depth * size_bytes(map.dtype);
  }
  EXPECT_EQ(bytes, stage_bytes(product));
}

TEST(WgmmaPlan, HasTensorMapsThatTheDriverTakes) {
  for (const char* a : {"(4,520,328):(170560,328,1)", "(4,520,328):(170560,1,520)"}) {
    for (const char* b : {"(328,776):(776,1)", "(4,328,776):(254528,1,328)"}) {
      for (const int n : {256, 192, 152, 64}) {
        SCOPED_TRACE(std::string(a) + " " + b + " " + std::to_string(n));
        const Plan part = part_of({{"a", bf16, a}, {"b", bf16, b}, {"d", bf16, "(4,520,776)"}},
                                  {.tile = {{n, 128}}});
        ASSERT_NE(wgmma_of(part), nullptr);
        expect_boxes(part);
      }
    }
  }
}

// wgmma reads 32-bit elements that do not lie along K from registers, and hence as A.
TEST(WgmmaPlan, TakesOperandsAlongMOf32BitsThroughRegisters) {
  for (const bool right : {false, true}) {
    const Plan part = part_of({{"a", tf32, right ? "(4,520,328)" : "(4,520,328):(170560,1,520)"},
                               {"b", tf32, right ? "(4,328,776)" : "(4,328,776):(254528,1,328)"},
                               {"d", f32, "(4,520,776)"}});
    ASSERT_NE(wgmma_of(part), nullptr);
    const MatmulWgmma& product = *wgmma_of(part);
    EXPECT_EQ(product.swapped, right);
    EXPECT_TRUE(product.loads_a());
    EXPECT_EQ(product.a.major, atoms::Major::mn);
    EXPECT_EQ(tensor_map(part, product, atoms::Operand::a).modes.size(), 5U);
    expect_boxes(part);
  }
  const Plan odd = part_of({{"a", tf32, "(520,332):(1,520)"},
                            {"b", tf32, "(332,776):(1,332)"},
                            {"d", f32, "(520,776)"}});
  EXPECT_EQ(wgmma_of(odd), nullptr) << "K is no multiple of 8";
}

TEST(WgmmaPlan, HasSharedMemoryForEveryTile) {
  for (const DType type : {bf16, tf32, i8}) {
    const Plan part = part_of_size(4096, 4096, 4096, type);
    ASSERT_NE(wgmma_of(part), nullptr);
    const auto tiles = ranked_tiles(problem_of(part, *wgmma_of(part)));
    EXPECT_GT(tiles.size(), 100U);
    for (std::size_t i = 0; i < tiles.size(); i += 7) {
      SCOPED_TRACE(std::to_string(tiles[i].m) + " by " + std::to_string(tiles[i].n));
      const Plan pinned =
          part_of_size(4096, 4096, 4096, type, {.tile = {{tiles[i].n, tiles[i].m}}, .cluster = 1});
      ASSERT_NE(wgmma_of(pinned), nullptr);
      expect_boxes(pinned);
    }
  }
}

TEST(WgmmaPlan, SplitsKIfTilesAreFew) {
  struct Case {
    int m, n, k;
    bool splits;
  };
  constexpr Case kCases[] = {{3200, 256, 5632, true},   {288, 208, 1160, true},
                             {64, 64, 8192, true},      {4096, 4096, 4096, false},
                             {8192, 1024, 1024, false}, {2048, 2048, 128, false}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::to_string(c.m) + " x " + std::to_string(c.n) + " x " + std::to_string(c.k));
    const Plan part = part_of_size(c.m, c.n, c.k);
    ASSERT_NE(wgmma_of(part), nullptr);
    EXPECT_EQ(wgmma_of(part)->splits > 1, c.splits);
    expect_boxes(part);
  }
}

TEST(WgmmaPlan, GivesEachBlockOfRowsAndColumnsABox) {
  for (const int columns : {64, 96, 152, 320}) {
    for (int n = 16; n <= 128; n += 8) {
      for (const int cluster : {4, 8}) {
        const Tuning tuning{.tile = {{64, n}}, .cluster = cluster, .splits = 1};
        const Plan part = part_of_size(1000, 640 + columns, 512, bf16, tuning);
        const MatmulWgmma* const made = wgmma_of(part);
        ASSERT_NE(made, nullptr);
        if (made->cluster == 1 || made->beside == 1) continue;
        EXPECT_GE(boxes_of(*made, atoms::Operand::a).count, made->beside) << n;
        EXPECT_GE(boxes_of(*made, atoms::Operand::b).count, made->cluster) << n;
      }
    }
  }
}

TEST(WgmmaPlan, AddsSplitSumsInAClusterWithoutMemory) {
  const Plan part =
      part_of_size(256, 512, 4096, bf16, {.tile = {{64, 128}}, .cluster = 2, .splits = 4});
  ASSERT_NE(wgmma_of(part), nullptr);
  EXPECT_LE(split_bytes(*wgmma_of(part)),
            wgmma_of(part)->tile.stages * stage_bytes(*wgmma_of(part)));
  const operation::LaunchPlan launch = launch_plan(part);
  EXPECT_TRUE(launch.workspaces.empty());
  ASSERT_EQ(launch.steps.size(), 1U);
  EXPECT_EQ(launch.steps[0].cluster, 8);
  EXPECT_FALSE(launch.steps[0].grid.resident) << "a block has one tile";
  EXPECT_EQ(launch.steps[0].grid.blocks_per_unit, 8);
}

TEST(WgmmaPlan, GoesBackToWarpsForTuningThatOnlyTheyHave) {
  EXPECT_EQ(wgmma_of(part_of_size(4096, 4096, 4096, bf16, {.splits = 9})), nullptr);
  EXPECT_EQ(wgmma_of(part_of_size(4096, 4096, 4096, bf16, {.splits = 3}))->splits, 3);
  EXPECT_EQ(wgmma_of(part_of_size(4096, 4096, 4096, bf16, {.cluster = 1}))->cluster, 1);
  try {
    (void)part_of_size(4096, 4096, 4096, bf16, {.tile = {{24, 40}}});
    ADD_FAILURE() << "planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "/tuning/tile");
  }
}

TEST(WgmmaPlan, TakesPairsOfSumsForOutputsOf16Bits) {
  const auto words = [](const char* formula, const char* c, DType type) {
    const Plan part = part_of({{"a", bf16, "(1024,1024)"},
                               {"b", bf16, "(1024,1024)"},
                               {"c", bf16, c},
                               {"d", type, "(1024,1024)"}},
                              {}, kHopper, formula);
    EXPECT_EQ(wgmma_of(part)->alike, std::string(c) == "1024");
    return wgmma_of(part)->words;
  };
  EXPECT_EQ(words("d = gelu(a @ b + c)", "1024", bf16), 1);
  EXPECT_EQ(words("d = gelu(a @ b + c)", "(1024,1024)", bf16), 1) << "a residual";
  EXPECT_EQ(words("d = a @ b + c", "1024", f32), 0) << "32 bits";
}

}  // namespace
}  // namespace tilejit::plan
