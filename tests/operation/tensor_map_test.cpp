#include "operation/tensor_map.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "fake/expect_error.hpp"
#include "operation/launch_plan.hpp"
#include "operation/signature.hpp"

namespace tilejit::operation {
namespace {

/// Boxes of 64 x 32 elements of a matrix of 1000 x 512.
TensorMap matrix() {
  return {.dtype = f16,
          .modes = {{.extent = 512, .box = 64}, {.extent = 1000, .stride = 512, .box = 32}},
          .swizzle = TensorMap::Swizzle::bytes_128};
}

struct Case {
  const char* what;
  std::function<void(TensorMap&)> change;
  std::string fault;
};

const Case kCases[] = {
    {"as it is", [](TensorMap&) {}, ""},
    {"no modes", [](TensorMap& m) { m.modes.clear(); }, "has 0 modes, not 1 to 5"},
    {"five modes", [](TensorMap& m) { m.modes.resize(5, {.extent = 3, .stride = 8}); }, ""},
    {"six modes", [](TensorMap& m) { m.modes.resize(6); }, "has 6 modes, not 1 to 5"},
    {"the largest box", [](TensorMap& m) { m.modes[1].box = 256; }, ""},
    {"a larger box", [](TensorMap& m) { m.modes[1].box = 257; },
     "has a box of 257 in mode 1, not 1 to 256"},
    {"an empty box", [](TensorMap& m) { m.modes[0].box = 0; },
     "has a box of 0 in mode 0, not 1 to 256"},
    {"the largest step", [](TensorMap& m) { m.modes[1].step = 8; }, ""},
    {"a larger step", [](TensorMap& m) { m.modes[1].step = 9; },
     "has a step of 9 in mode 1, not 1 to 8"},
    {"no step", [](TensorMap& m) { m.modes[1].step = 0; }, "has a step of 0 in mode 1, not 1 to 8"},
    {"a step along rows", [](TensorMap& m) { m.modes[0].step = 2; },
     "has a step of 2 in mode 0, not 1"},
    {"symbols",
     [](TensorMap& m) {
       m.modes = {{"N"}, {"M", "S"}}, m.modes[0].box = 8;
     },
     ""},
    {"the largest extent", [](TensorMap& m) { m.modes[1].extent = std::int64_t{1} << 32; }, ""},
    {"a larger extent", [](TensorMap& m) { m.modes[1].extent = (std::int64_t{1} << 32) + 1; },
     "has an extent of 4294967297 in mode 1, not 1 to 2^32"},
    {"rows that are not contiguous", [](TensorMap& m) { m.modes[0].stride = 2; },
     "has a stride of 2 in mode 0, not 1"},
    {"rows that may not be contiguous", [](TensorMap& m) { m.modes[0].stride = "S"; },
     "has a stride of S in mode 0, not 1"},
    {"rows of 8 bytes less", [](TensorMap& m) { m.modes[1].stride = 508; },
     "has a stride of 508 elements of 2 bytes in mode 1, not a positive multiple of 16 bytes below "
     "2^40"},
    {"a broadcast", [](TensorMap& m) { m.modes[1].stride = 0; },
     "has a stride of 0 elements of 2 bytes in mode 1, not a positive multiple of 16 bytes below "
     "2^40"},
    {"the largest stride", [](TensorMap& m) { m.modes[1].stride = (std::int64_t{1} << 39) - 8; },
     ""},
    {"a larger stride", [](TensorMap& m) { m.modes[1].stride = std::int64_t{1} << 39; },
     "has a stride of 549755813888 elements of 2 bytes in mode 1, not a positive multiple of 16 "
     "bytes below 2^40"},
    {"any stride of one row", [](TensorMap& m) { m.modes[1] = {.extent = 1, .stride = 3}; }, ""},
    {"boxes of 8 bytes", [](TensorMap& m) { m.modes[0].box = 4; },
     "has boxes with rows of 8 bytes, not a multiple of 16"},
    {"boxes wider than the swizzle", [](TensorMap& m) { m.modes[0].box = 72; },
     "has boxes with rows of 144 bytes, more than its swizzle of 128"},
    {"a narrower swizzle", [](TensorMap& m) { m.swizzle = TensorMap::Swizzle::bytes_64; },
     "has boxes with rows of 128 bytes, more than its swizzle of 64"},
    {"no swizzle", [](TensorMap& m) { m.swizzle = TensorMap::Swizzle::none, m.modes[0].box = 256; },
     ""},
    {"NaN", [](TensorMap& m) { m.fill = TensorMap::Fill::nan; }, ""},
    {"NaN as an integer", [](TensorMap& m) { m.dtype = i16, m.fill = TensorMap::Fill::nan; },
     "is filled with NaN, which i16 cannot be"},
    {"NaN in a byte", [](TensorMap& m) { m.dtype = f8e4m3, m.fill = TensorMap::Fill::nan; },
     "is filled with NaN, which f8e4m3 cannot be"},
};

TEST(TensorMapFaults, AreSaidForWhatNoLaunchCouldEncode) {
  for (const Case& c : kCases) {
    TensorMap map = matrix();
    c.change(map);
    EXPECT_EQ(fault_of(map), c.fault) << c.what;
  }
}

TEST(TensorMapJson, HasEveryMember) {
  EXPECT_EQ(
      to_json(matrix()),
      R"({"base":"tensor","dtype":"f16","modes":[{"extent":"512","stride":"1","box":64,"step")"
      R"(:1},{"extent":"1000","stride":"512","box":32,"step":1}],"swizzle":128,"promotion":)"
      R"("128B","fill":"zeros"})");
  TensorMap other = matrix();
  other.base = TensorMap::Base::workspace;
  other.modes = {{.extent = "N", .box = 16, .step = 1}};
  other.swizzle = TensorMap::Swizzle::none;
  other.promotion = TensorMap::Promotion::none;
  other.fill = TensorMap::Fill::nan;
  EXPECT_EQ(to_json(other),
            R"({"base":"workspace","dtype":"f16","modes":[{"extent":"N","stride":"1","box":16,)"
            R"("step":1}],"swizzle":0,"promotion":"none","fill":"nan"})");
  for (const auto promotion : {TensorMap::Promotion::bytes_64, TensorMap::Promotion::bytes_256}) {
    other.promotion = promotion;
    const bool narrow = promotion == TensorMap::Promotion::bytes_64;
    EXPECT_NE(to_json(other).find(narrow ? "\"64B\"" : "\"256B\""), std::string::npos);
  }
}

class CheckedPlans : public testing::Test {
 protected:
  CheckedPlans() {
    signature.tensors = {{"x", f16, "(1000,512):(512,1)", Access::in}};
    plan.steps = {{.entry = "load", .params = {param}, .params_bytes = 128}};
  }
  [[nodiscard]] Param& changed() { return plan.steps[0].params[0]; }
  void expect_fault(const std::string& text) const {
    expect_error(ErrorCode::unsupported, "the tensor map 'x' of the kernel load " + text,
                 [&] { check_tensor_maps(signature, plan); });
  }

  const Param param = {.kind = Param::Kind::tensor_map,
                       .index = 0,
                       .map = matrix(),
                       .name = "x",
                       .size = TensorMap::kBytes};
  Signature signature;
  LaunchPlan plan;
};

TEST_F(CheckedPlans, HaveMapsThatAreAlignedAndOfSomething) {
  EXPECT_NO_THROW(check_tensor_maps(signature, plan));
  EXPECT_TRUE(has_tensor_maps(plan.steps[0]));
  changed().offset = 32;
  plan.steps[0].params_bytes = 192;
  expect_fault("does not take 128 bytes that are aligned to 64");
  changed().offset = 0;
  plan.steps[0].params_bytes = 136;
  expect_fault("does not take 128 bytes that are aligned to 64 in a struct of a multiple of 64");
  plan.steps[0].params_bytes = 128;
  changed().size = 64;
  expect_fault("does not take 128 bytes");
  changed() = param;
  changed().index = 1;
  expect_fault("is of tensor 1, which does not exist");
  changed().index = -1;
  expect_fault("is of tensor -1, which does not exist");
  changed() = param;
  changed().map.base = TensorMap::Base::workspace;
  expect_fault("is of workspace 0, which does not exist");
  plan.workspaces.push_back({.bytes = 1024000});
  EXPECT_NO_THROW(check_tensor_maps(signature, plan));
  changed().map.modes[1].box = 300;
  expect_fault("has a box of 300 in mode 1, not 1 to 256; correct the plan");
}

TEST_F(CheckedPlans, DifferIfTheirMapsDo) {
  LaunchPlan other = plan;
  EXPECT_EQ(other, plan);
  other.steps[0].params[0].map.modes[1].box = 16;
  EXPECT_NE(other, plan);
  other.steps[0].params[0].kind = Param::Kind::pointer;
  EXPECT_FALSE(has_tensor_maps(other.steps[0]));
}

}  // namespace
}  // namespace tilejit::operation
