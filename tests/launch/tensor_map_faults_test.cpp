// Invalid tensor maps, and tensor maps of workspaces, whose address is known last.
#include <gtest/gtest.h>

#include <vector>

#include "fake/expect_error.hpp"
#include "launch/tensor_map_fixture.hpp"
#include "operation/boxes.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit {
namespace {

using launch::Internals;
using operation::TensorMap;

class TensorMapsOfWorkspaces : public TensorMaps {};
class TensorMapFaultsAtLaunch : public TensorMaps {};

// ---- Workspaces ---------------------------------------------------------------------------------

/// x is not aligned, so boxes are loaded from a copy of it.
test::Boxes unaligned() {
  test::Boxes op;
  op.tensors = {{"x", f16, "(100,70):(75,1)", Access::in, 2}, {"y", f16, "16384:1", Access::out}};
  return op;
}

TEST_F(TensorMapsOfWorkspaces, HaveItsAddress) {
  const Kernel kernel = load(runtime, test::boxes(unaligned()));
  for (int i = 0; i < 2; ++i) kernel.launch(kStream, x_at(0x10002));
  ASSERT_EQ(fake.launches.size(), 4U);
  const auto workspace = field_at<std::uint64_t>(fake.launches[0].params.data(), 8);
  EXPECT_EQ(workspace, 0x5000U);
  EXPECT_EQ(map_at(fake.launches[1].params, 64), (Encoded{1, workspace}));
  EXPECT_EQ(fake.tensor_maps.back().extents, (std::vector<std::uint64_t>{70, 100}));
  EXPECT_EQ(fake.tensor_maps.back().strides, std::vector<std::uint64_t>{70 * 16});
  EXPECT_EQ(fake.count(kEncode), 1) << "the same memory again";
  EXPECT_TRUE(is_aligned(fake.launches[1].params_at));
  const BoundLaunch bound = kernel.bind(x_at(0x10002));
  bound.launch(kStream);
  EXPECT_EQ(map_at(fake.launches.back().params, 64), (Encoded{1, workspace}));
  EXPECT_TRUE(is_aligned(fake.launches.back().params_at));
}

TEST_F(TensorMapsOfWorkspaces, FreeItIfTheDriverRefuses) {
  const Kernel kernel = load(runtime, test::boxes(unaligned()));
  fake.fail_on[kEncode] = CUDA_ERROR_UNKNOWN;
  expect_error(ErrorCode::driver_call, "of workspace 0 with CUDA_ERROR_UNKNOWN",
               [&] { kernel.launch(kStream, x_at(0x10002)); });
  EXPECT_EQ(fake.buffers, 0);
  EXPECT_EQ(fake.launches.size(), 0U);
}

TEST_F(TensorMapsOfWorkspaces, HaveSizesThatBindingChecks) {
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

// ---- Faults -------------------------------------------------------------------------------------

TEST_F(TensorMapFaultsAtLaunch, SayWhatIsWrongWithAnArgument) {
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

TEST_F(TensorMapFaultsAtLaunch, SayWhatTheDriverRefused) {
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

TEST_F(TensorMapFaultsAtLaunch, ThatAreRefusedLeaveABoundLaunchAsItWas) {
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

TEST_F(TensorMapFaultsAtLaunch, NeedADriverThatHasThemOnlyWhereTheyAre) {
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

TEST_F(TensorMapFaultsAtLaunch, NeedADeviceThatHasThem) {
  fake.capability_major = 8;
  const Runtime old = Internals::make_runtime(kInMemory, fake.table);
  EXPECT_NO_THROW(load(old, hand_plan()).launch(kStream, hand_arguments()));
  expect_error(ErrorCode::unsupported,
               "this device has compute capability 8.x, without a tensor memory accelerator",
               [&] { (void)load(old, mapped_plan()); });
}

TEST_F(TensorMapFaultsAtLaunch, ThatCannotBeAreRefusedWhenTheyAreLoaded) {
  HandPlan plan = mapped_plan();
  plan.plan.params.back().map.modes[1].box = 257;
  expect_error(ErrorCode::unsupported, "the tensor map 'm2' of the kernel tilejit_hand has a box",
               [&] { (void)load(runtime, plan); });
}

}  // namespace
}  // namespace tilejit
