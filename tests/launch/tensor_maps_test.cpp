// Tensor maps in the parameters of a kernel: which driver calls are made, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "fake/expect_error.hpp"
#include "launch/counting_new.hpp"
#include "launch/tensor_map_fixture.hpp"
#include "operation/boxes.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit {
namespace {

using launch::Internals;
using operation::TensorMap;
using ::testing::HasSubstr;
using Numbers = std::vector<std::uint64_t>;
using Counts = std::vector<std::uint32_t>;

// ---- What the driver is asked for ---------------------------------------------------------------

struct TypeCase {
  DType dtype;
  CUtensorMapDataType type;
};
constexpr TypeCase kTypes[] = {
    {b8, CU_TENSOR_MAP_DATA_TYPE_UINT8},      {i8, CU_TENSOR_MAP_DATA_TYPE_UINT8},
    {u8, CU_TENSOR_MAP_DATA_TYPE_UINT8},      {f8e4m3, CU_TENSOR_MAP_DATA_TYPE_UINT8},
    {f8e5m2, CU_TENSOR_MAP_DATA_TYPE_UINT8},  {i16, CU_TENSOR_MAP_DATA_TYPE_UINT16},
    {u16, CU_TENSOR_MAP_DATA_TYPE_UINT16},    {i32, CU_TENSOR_MAP_DATA_TYPE_INT32},
    {u32, CU_TENSOR_MAP_DATA_TYPE_UINT32},    {i64, CU_TENSOR_MAP_DATA_TYPE_INT64},
    {u64, CU_TENSOR_MAP_DATA_TYPE_UINT64},    {f16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16},
    {bf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16}, {f32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
    {f64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64},   {tf32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32},
};

TEST_F(TensorMaps, HaveTheTypeOfTheirElementsAndStridesInBytes) {
  EXPECT_EQ(std::size(kTypes), std::size(kAllDTypes));
  for (const TypeCase& c : kTypes) {
    SCOPED_TRACE(to_string(c.dtype));
    load(runtime, mapped_plan(c.dtype)).launch(kStream, x_at(0x10000));
    const FakeDriver::TensorMap& map = fake.tensor_maps.back();
    EXPECT_EQ(map.type, c.type);
    EXPECT_EQ(map.strides, Numbers{std::uint64_t(512) * size_bytes(c.dtype)});
  }
}

TEST_F(TensorMaps, PassTheirOptionsOn) {
  struct Case {
    TensorMap::Swizzle swizzle;
    CUtensorMapSwizzle want_swizzle;
    TensorMap::Promotion promotion;
    CUtensorMapL2promotion want_promotion;
    TensorMap::Fill fill;
    CUtensorMapFloatOOBfill want_fill;
  };
  using Swizzle = TensorMap::Swizzle;
  using Promotion = TensorMap::Promotion;
  using Fill = TensorMap::Fill;
  constexpr auto kZeros = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                 kNan = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  const Case cases[] = {
      {Swizzle::none, CU_TENSOR_MAP_SWIZZLE_NONE, Promotion::bytes_256,
       CU_TENSOR_MAP_L2_PROMOTION_L2_256B, Fill::zeros, kZeros},
      {Swizzle::bytes_32, CU_TENSOR_MAP_SWIZZLE_32B, Promotion::bytes_128,
       CU_TENSOR_MAP_L2_PROMOTION_L2_128B, Fill::nan, kNan},
      {Swizzle::bytes_64, CU_TENSOR_MAP_SWIZZLE_64B, Promotion::bytes_64,
       CU_TENSOR_MAP_L2_PROMOTION_L2_64B, Fill::zeros, kZeros},
      {Swizzle::bytes_128, CU_TENSOR_MAP_SWIZZLE_128B, Promotion::none,
       CU_TENSOR_MAP_L2_PROMOTION_NONE, Fill::nan, kNan},
  };
  for (const Case& c : cases) {
    HandPlan plan;
    plan.in("x", "(4,512):(512,1)", bf16)
        .map(0, {.dtype = bf16,
                 .modes = {{.extent = 512, .box = 16}},
                 .swizzle = c.swizzle,
                 .promotion = c.promotion,
                 .fill = c.fill});
    load(runtime, plan).launch(kStream, {on_device(0x10000)});
    const FakeDriver::TensorMap& map = fake.tensor_maps.back();
    EXPECT_EQ(map.swizzle, c.want_swizzle);
    EXPECT_EQ(map.promotion, c.want_promotion);
    EXPECT_EQ(map.fill, c.want_fill);
    EXPECT_EQ(map.interleave, CU_TENSOR_MAP_INTERLEAVE_NONE);
  }
}

TEST_F(TensorMaps, HaveOneToFiveModes) {
  const std::vector<TensorMap::Mode> modes = {{.extent = 512, .box = 64},
                                              {.extent = 100, .stride = 512, .box = 256},
                                              {.extent = 7, .stride = 51200, .box = 3, .step = 2},
                                              {.extent = 5, .stride = 8, .box = 1, .step = 8},
                                              {.extent = 3, .stride = 358400, .box = 2}};
  const Numbers extents = {512, 100, 7, 5, 3}, strides = {1024, 102400, 16, 716800};
  const Counts box = {64, 256, 3, 1, 2}, steps = {1, 1, 2, 8, 1};
  const auto first = [](const auto& all, std::size_t count) {
    return std::remove_cvref_t<decltype(all)>(all.begin(), all.begin() + count);
  };
  for (std::size_t rank = 1; rank <= 5; ++rank) {
    HandPlan plan;
    plan.in("x", "1075200:1", f16).map(0, {.dtype = f16, .modes = first(modes, rank)});
    load(runtime, plan).launch(kStream, {on_device(0x7000)});
    const FakeDriver::TensorMap& map = fake.tensor_maps.back();
    EXPECT_EQ(map.address, 0x7000U);
    EXPECT_EQ(map.extents, first(extents, rank));
    EXPECT_EQ(map.strides, first(strides, rank - 1));
    EXPECT_EQ(map.box, first(box, rank));
    EXPECT_EQ(map.steps, first(steps, rank));
  }
}

TEST_F(TensorMaps, TakeSizesFromSymbols) {
  const Kernel kernel = load(runtime, test::boxes({.symbols = {{"S", 8}}}));
  const SymbolValues sizes = {{"M", 100}, {"N", 70}, {"S", 200}, {"L", 8192}};
  kernel.launch(kStream, x_at(0x10000), sizes);
  EXPECT_EQ(fake.tensor_maps.back().extents, (Numbers{70, 100}));
  EXPECT_EQ(fake.tensor_maps.back().strides, Numbers{400});
  EXPECT_EQ(fake.launches.back().blocks, 8U);
  EXPECT_EQ(field_at<std::int64_t>(fake.launches.back().params.data(), 8), 70);
  EXPECT_EQ(last_map(), (Encoded{1, 0x10000}));
}

TEST_F(TensorMaps, TakeSizesThatAFallbackRequires) {
  const Kernel kernel =
      Internals::bind(load(runtime, test::boxes({.symbols = {{"S", 8}}})), {{"M", 3}, {"N", 70}});
  kernel.launch(kStream, x_at(0x10000), {{"S", 80}, {"L", 4096}});
  EXPECT_EQ(fake.tensor_maps.back().extents, (Numbers{70, 3}));
  EXPECT_EQ(fake.tensor_maps.back().strides, Numbers{160});
}

// The shape alone does not determine the stride of a single row.
TEST_F(TensorMaps, OfOneRowHaveAnyStride) {
  const Kernel kernel = load(runtime, test::boxes({.symbols = {{"S", 8}}}));
  const std::array<std::int64_t, 2> shape = {1, 70}, stride = {3, 1};
  const std::array<std::int64_t, 1> length = {4096}, one = {1};
  const std::vector<Argument> args = {Argument(f16, on_device(0x10000), shape, stride),
                                      Argument(f16, on_device(0x40000), length, one)};
  kernel.launch(kStream, args);
  EXPECT_EQ(fake.tensor_maps.back().extents, (Numbers{70, 1}));
  EXPECT_EQ(fake.tensor_maps.back().strides, Numbers{144}) << "70 elements, rounded up to 16 bytes";
}

// ---- When the driver is asked -------------------------------------------------------------------

TEST_F(TensorMaps, AreAskedForOnceAnAddress) {
  const Kernel kernel = load(runtime, mapped_plan());
  EXPECT_EQ(fake.count(kEncode), 0) << "no address is known";
  for (int i = 0; i < 3; ++i) kernel.launch(kStream, x_at(0x10000));
  EXPECT_EQ(fake.count(kEncode), 1);
  EXPECT_EQ(last_map(), (Encoded{1, 0x10000}));
  EXPECT_EQ(field_at<std::uint64_t>(fake.launches.back().params.data(), 0), 0x10000U);
  kernel.launch(kStream, x_at(0x10000, 0x50000000));
  EXPECT_EQ(fake.count(kEncode), 1) << "y has no map";
  kernel.launch(kStream, x_at(0x20000));
  EXPECT_EQ(last_map(), (Encoded{2, 0x20000}));
  kernel.launch(kStream, x_at(0x10000));
  EXPECT_EQ(last_map(), (Encoded{1, 0x10000})) << "buffers that take turns";
  EXPECT_EQ(fake.count(kEncode), 2);
  for (const FakeDriver::Launch& launch : fake.launches) EXPECT_TRUE(is_aligned(launch.params_at));
}

TEST_F(TensorMaps, AreAskedForAgainWhenSizesChange) {
  const Kernel kernel = load(runtime, test::boxes({.symbols = {{"S", 8}}}));
  const auto launch = [&](std::int64_t m) {
    kernel.launch(kStream, x_at(0x10000), {{"M", m}, {"N", 64}, {"S", 64}, {"L", 8192}});
    return fake.tensor_maps.back().extents[1];
  };
  EXPECT_EQ(launch(100), 100U);
  EXPECT_EQ(launch(101), 101U);
  EXPECT_EQ(last_map().number, 2U);
  EXPECT_EQ(launch(101), 101U);
  EXPECT_EQ(fake.count(kEncode), 2);
}

/// More addresses than are remembered: each launch still gets the right map.
TEST_F(TensorMaps, AreRightForAnyNumberOfAddresses) {
  const Kernel kernel = load(runtime, mapped_plan());
  for (int round = 0; round < 2; ++round) {
    for (std::uintptr_t i = 1; i <= 100; ++i) {
      kernel.launch(kStream, x_at(i << 12));
      EXPECT_EQ(last_map().address, i << 12);
    }
  }
}

TEST_F(TensorMaps, AreBoundAndSet) {
  const Kernel kernel = load(runtime, mapped_plan());
  BoundLaunch bound = kernel.bind(x_at(0x10000));
  bound.launch(kStream);
  bound.launch(kStream);
  EXPECT_EQ(fake.count(kEncode), 1);
  EXPECT_EQ(last_map(), (Encoded{1, 0x10000}));
  const BoundLaunch copy = bound;
  bound.set(0, on_device(0x20000));
  bound.launch(kStream);
  EXPECT_EQ(last_map(), (Encoded{2, 0x20000}));
  copy.launch(kStream);
  EXPECT_EQ(last_map(), (Encoded{1, 0x10000}));
  bound.set(1, on_device(0x60000000));
  EXPECT_EQ(fake.count(kEncode), 2);
  for (const FakeDriver::Launch& launch : fake.launches) EXPECT_TRUE(is_aligned(launch.params_at));
}

TEST_F(TensorMaps, AreInLaunchesWithOptions) {
  const Kernel kernel = load(runtime, mapped_plan());
  kernel.launch(kStream, x_at(0x10000), {}, {.overlap = true});
  EXPECT_EQ(fake.count("cuLaunchKernelEx"), 1);
  EXPECT_EQ(last_map(), (Encoded{1, 0x10000}));
  EXPECT_TRUE(is_aligned(fake.launches.back().params_at));
}

TEST_F(TensorMaps, AreNotAskedForIfNothingIsLaunched) {
  const Kernel kernel = load(runtime, test::boxes({.symbols = {{"S", 8}}}));
  kernel.launch(kStream, x_at(0x10000), {{"M", 0}, {"N", 64}, {"S", 64}, {"L", 0}});
  EXPECT_EQ(fake.launches.size(), 0U);
  EXPECT_EQ(fake.count(kEncode), 0);
}

TEST_F(TensorMaps, RememberedAllocateNothing) {
  fake.table.cuLaunchKernel_ = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**,
                                  void**) { return CUDA_SUCCESS; };
  const Kernel kernel = load(runtime, mapped_plan());
  const std::vector<Argument> args = x_at(0x10000);
  BoundLaunch bound = kernel.bind(args);
  bound.set(0, on_device(0x20000));
  bound.set(0, on_device(0x10000));
  const int before = allocations();
  kernel.launch(kStream, args);
  bound.set(0, on_device(0x20000));
  bound.launch(kStream);
  EXPECT_EQ(allocations() - before, 0);
}

TEST_F(TensorMaps, AreEncodedInAThreadWithoutAContext) {
  fake.encode_needs_context = true;
  load(runtime, mapped_plan()).launch(kStream, x_at(0x10000));
  EXPECT_EQ(fake.count(kEncode), 2);
  EXPECT_EQ(last_map(), (Encoded{1, 0x10000}));
  EXPECT_TRUE(fake.current.empty());
}

/// Too many parameters for the stack.
TEST_F(TensorMaps, AreAlignedInManyParameters) {
  HandPlan plan;
  plan.in("x", "(64,512):(512,1)", f16).out("y", "(64,512):(512,1)", f16);
  const TensorMap map = {.dtype = f16, .modes = {{.extent = 512, .box = 8}}};
  for (int i = 0; i < 31; ++i) plan.map(0, map);
  EXPECT_EQ(plan.plan.params_bytes, 64 + 31 * 128);
  fake.param_bytes = 64 + 31 * 128;
  load(runtime, plan).launch(kStream, x_at(0x10000));
  EXPECT_TRUE(is_aligned(fake.launches.back().params_at));
  for (int i = 0; i < 31; ++i) EXPECT_EQ(last_map(64 + 128 * i).address, 0x10000U);
  EXPECT_EQ(fake.count(kEncode), 31);
  plan.map(0, map);
  expect_error(ErrorCode::unsupported, "4160 bytes of parameters", [&] { load(runtime, plan); });
}

TEST_F(TensorMaps, AreInTheJsonOfAPlan) {
  EXPECT_THAT(
      plan::to_json(mapped_plan().plan),
      HasSubstr(R"("kind":"tensor_map","offset":64,"map":{"base":"tensor","dtype":"f16",)"));
}

}  // namespace
}  // namespace tilejit
