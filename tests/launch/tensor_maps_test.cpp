// Tensor maps in the parameters of a kernel: what the driver is asked for, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "launch/counting_new.hpp"
#include "operation/boxes.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit {
namespace {

using launch::Internals;
using operation::TensorMap;
using ::testing::HasSubstr;
using Numbers = std::vector<std::uint64_t>;
using Counts = std::vector<std::uint32_t>;

constexpr const char* kEncode = "cuTensorMapEncodeTiled";

class TensorMaps : public testing::Test {
 protected:
  TensorMaps() { fake.param_bytes = 192; }

  /// The number and the address in the map at `offset` of a launch.
  struct Encoded {
    std::uint64_t number, address;
    bool operator==(const Encoded&) const = default;
  };
  static Encoded map_at(const std::vector<std::byte>& params, int offset) {
    return {field_at<std::uint64_t>(params.data(), offset),
            field_at<std::uint64_t>(params.data(), offset + 8)};
  }
  [[nodiscard]] Encoded last_map(int offset = 64) const {
    return map_at(fake.launches.back().params, offset);
  }
  [[nodiscard]] static bool is_aligned(const void* params) {
    return reinterpret_cast<std::uintptr_t>(params) % TensorMap::kAlignment == 0;
  }

  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
};

/// x of known sizes, y behind it; a map of x at byte 64.
HandPlan mapped_plan(DType dtype = f16, int align = 16) {
  HandPlan plan;
  plan.in("x", "(1000,512):(512,1)", dtype).out("y", "(1000,512):(512,1)", dtype);
  for (Tensor& tensor : plan.plan.signature.tensors) tensor.align = align;
  return plan.map(
      0, {.dtype = dtype,
          .modes = {{.extent = 512, .box = 32}, {.extent = 1000, .stride = 512, .box = 64}}});
}

std::vector<Argument> x_at(std::uintptr_t x, std::uintptr_t y = 0x40000000) {
  return {on_device(x), on_device(y)};
}

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

// The stride of a single row has no value if only the shape gives it.
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

/// More addresses than are remembered: each launch still gets its own.
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

// ---- Workspaces ---------------------------------------------------------------------------------

/// x is not aligned, so boxes are loaded from a copy.
test::Boxes unaligned() {
  test::Boxes op;
  op.tensors = {{"x", f16, "(100,70):(75,1)", Access::in, 2}, {"y", f16, "16384:1", Access::out}};
  return op;
}

TEST_F(TensorMaps, OfAWorkspaceHaveItsAddress) {
  const Kernel kernel = load(runtime, test::boxes(unaligned()));
  for (int i = 0; i < 2; ++i) kernel.launch(kStream, x_at(0x10002));
  ASSERT_EQ(fake.launches.size(), 4U);
  const auto workspace = field_at<std::uint64_t>(fake.launches[0].params.data(), 8);
  EXPECT_EQ(workspace, 0x5000U);
  EXPECT_EQ(map_at(fake.launches[1].params, 64), (Encoded{1, workspace}));
  EXPECT_EQ(fake.tensor_maps.back().extents, (Numbers{70, 100}));
  EXPECT_EQ(fake.tensor_maps.back().strides, Numbers{70 * 16});
  EXPECT_EQ(fake.count(kEncode), 1) << "the same memory again";
  EXPECT_TRUE(is_aligned(fake.launches[1].params_at));
  const BoundLaunch bound = kernel.bind(x_at(0x10002));
  bound.launch(kStream);
  EXPECT_EQ(map_at(fake.launches.back().params, 64), (Encoded{1, workspace}));
  EXPECT_TRUE(is_aligned(fake.launches.back().params_at));
}

TEST_F(TensorMaps, OfAWorkspaceFreeItIfTheDriverRefuses) {
  const Kernel kernel = load(runtime, test::boxes(unaligned()));
  fake.fail_on[kEncode] = CUDA_ERROR_UNKNOWN;
  expect_error(ErrorCode::driver_call, "of workspace 0 with CUDA_ERROR_UNKNOWN",
               [&] { kernel.launch(kStream, x_at(0x10002)); });
  EXPECT_EQ(fake.buffers, 0);
  EXPECT_EQ(fake.launches.size(), 0U);
}

TEST_F(TensorMaps, OfAWorkspaceHaveSizesThatBindingChecks) {
  test::Boxes op = unaligned();
  op.tensors[0].layout = "(M,N):(75,1)";
  const Kernel kernel = load(runtime, test::boxes(op));
  const auto bind = [&](std::int64_t rows) {
    (void)kernel.bind(x_at(0x10002), {{"M", rows}, {"N", 1}});
  };
  EXPECT_NO_THROW(bind(70));
  expect_error(ErrorCode::invalid_argument,
               "workspace 0, of which the kernel takes a tensor map ('x'), has an extent of "
               "4294967297 in the map's mode 1; pass 1 to 2^32 elements",
               [&] { bind((std::int64_t{1} << 32) + 1); });
  EXPECT_EQ(fake.count(kEncode), 0);
}

/// So many parameters that they are not on the stack.
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

// ---- Faults -------------------------------------------------------------------------------------

TEST_F(TensorMaps, SayWhatIsWrongWithAnArgument) {
  struct Case {
    const char* what;
    std::uintptr_t address;
    SymbolValues symbols;
    const char* text;
  };
  const std::int64_t many = (std::int64_t{1} << 32) + 1;
  const Case cases[] = {
      {"an address",
       0x10008,
       {{"M", 8}, {"N", 64}, {"S", 64}},
       "tensor 'x' (argument 0), of which the kernel takes a tensor map ('m2'), is not aligned to "
       "16 bytes; pass aligned memory"},
      {"a stride",
       0x10000,
       {{"M", 8}, {"N", 64}, {"S", 68}},
       "has a stride of 68 elements of 2 bytes in the map's mode 1; pass a positive multiple of 16 "
       "bytes below 2^40"},
      {"a stride of nothing",
       0x10000,
       {{"M", 8}, {"N", 64}, {"S", 0}},
       "has a stride of 0 elements"},
      {"a large stride",
       0x10000,
       {{"M", 2}, {"N", 64}, {"S", std::int64_t{1} << 39}},
       "has a stride of 549755813888 elements"},
      {"no columns",
       0x10000,
       {{"M", 8}, {"N", 0}, {"S", 64}},
       "has an extent of 0 in the map's mode 0; pass 1 to 2^32 elements"},
      {"many columns",
       0x10000,
       {{"M", 1}, {"N", many}, {"S", 64}},
       "has an extent of 4294967297 in the map's mode 0; pass 1 to 2^32 elements"},
  };
  HandPlan plan;
  plan.in("x", "(M,N):(S,1)", f16).out("y", "(8,1):(1,8)", f16);
  plan.plan.signature.tensors[0].align = 2;
  plan.plan.extents = {1, 8};  // blocks do not depend on x
  plan.map(0, {.dtype = f16,
               .modes = {{.extent = "N", .box = 64}, {.extent = "M", .stride = "S", .box = 8}}});
  const Kernel kernel = load(runtime, plan);
  EXPECT_NO_THROW(kernel.launch(kStream, x_at(0x10000), {{"M", 8}, {"N", 64}, {"S", 64}}));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const std::string where = expect_error(ErrorCode::invalid_argument, c.text, [&] {
      kernel.launch(kStream, x_at(c.address), c.symbols);
    });
    EXPECT_EQ(where, "/tensors/x");
    EXPECT_THROW((void)kernel.bind(x_at(c.address), c.symbols), Error);
  }
  EXPECT_EQ(fake.count(kEncode), 1) << "the driver is not asked for what it would refuse";
  EXPECT_EQ(fake.launches.size(), 1U);
}

TEST_F(TensorMaps, SayWhatTheDriverRefused) {
  const Kernel kernel = load(runtime, mapped_plan());
  fake.fail_on[kEncode] = CUDA_ERROR_UNKNOWN;
  const std::string where = expect_error(
      ErrorCode::driver_call,
      "the driver refused the tensor map 'm2' of tensor 'x' (argument 0) with CUDA_ERROR_UNKNOWN "
      "(a fake failure): f16, extents 512 x 1000, strides in bytes 1024, box 32 x 64, swizzle of 0 "
      "bytes; check that the memory belongs to the device",
      [&] { kernel.launch(kStream, x_at(0x10000)); });
  EXPECT_EQ(where, kEncode);
  EXPECT_EQ(fake.launches.size(), 0U);
  fake.fail_on.clear();
  kernel.launch(kStream, x_at(0x10000));
  EXPECT_EQ(last_map(), (Encoded{1, 0x10000})) << "a failure is not remembered";
}

TEST_F(TensorMaps, ThatAreRefusedLeaveABoundLaunchAsItWas) {
  HandPlan plan = mapped_plan();
  plan.map(1, plan.plan.params.back().map);
  const Kernel kernel = load(runtime, plan);
  fake.param_bytes = 320;
  BoundLaunch bound = kernel.bind(x_at(0x10000, 0x40000000));
  for (std::uintptr_t i = 1; i < 100; ++i) {  // nothing of it is remembered
    kernel.launch(kStream, x_at(0x10000 + (i << 12), 0x40000000 + (i << 12)));
  }
  bound.launch(kStream);
  const std::vector<std::byte> before = fake.launches.back().params;
  for (const int call : {0, 1}) {  // the map of x, or that of y
    fake.calls.clear();
    fake.fail_at = call;
    expect_error(ErrorCode::driver_call, "the driver refused", [&] {
      bound.set({{0, on_device(0x90000000)}, {1, on_device(0xA0000000)}});
    });
    fake.fail_on[kEncode] = CUDA_ERROR_UNKNOWN;
    bound.launch(kStream);
    EXPECT_EQ(fake.launches.back().params, before);
    fake.fail_on.clear();
    fake.fail_at = -1;
  }
  bound.set(0, on_device(0x90000000));
  bound.launch(kStream);
  EXPECT_EQ(last_map().address, 0x90000000U);
  EXPECT_EQ(last_map(192).address, 0x40000000U) << "the argument that did not change";
}

TEST_F(TensorMaps, NeedADriverThatHasThemOnlyWhereTheyAre) {
  fake.table.cuTensorMapEncodeTiled_ = nullptr;
  fake.version = 11080;
  Runtime old = Internals::make_runtime(kInMemory, fake.table);
  EXPECT_NO_THROW(load(old, hand_plan()).launch(kStream, hand_arguments()));
  expect_error(ErrorCode::no_driver,
               "the kernel takes tensor maps, and this driver, which supports CUDA 11.8, cannot "
               "encode them (it has no cuTensorMapEncodeTiled); install a driver for CUDA 12.0 or "
               "later",
               [&] { (void)load(old, mapped_plan()); });
}

TEST_F(TensorMaps, NeedADeviceThatHasThem) {
  fake.capability_major = 8;
  const Runtime old = Internals::make_runtime(kInMemory, fake.table);
  EXPECT_NO_THROW(load(old, hand_plan()).launch(kStream, hand_arguments()));
  expect_error(ErrorCode::unsupported,
               "this device has compute capability 8.x, without a tensor memory accelerator",
               [&] { (void)load(old, mapped_plan()); });
}

TEST_F(TensorMaps, ThatCannotBeAreRefusedWhenTheyAreLoaded) {
  HandPlan plan = mapped_plan();
  plan.plan.params.back().map.modes[1].box = 257;
  expect_error(ErrorCode::unsupported, "the tensor map 'm2' of the kernel tilejit_hand has a box",
               [&] { (void)load(runtime, plan); });
}

TEST_F(TensorMaps, AreInTheJsonOfAPlan) {
  EXPECT_THAT(
      plan::to_json(mapped_plan().plan),
      HasSubstr(R"("kind":"tensor_map","offset":64,"map":{"base":"tensor","dtype":"f16",)"));
}

}  // namespace
}  // namespace tilejit
