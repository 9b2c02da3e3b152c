#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/hand_plans.hpp"
#include "launch/binder.hpp"

namespace tilejit::launch {
namespace {

struct OverlapCase {
  const char* name;
  const char* x_layout;
  const char* y_layout;
  DType x_dtype;
  std::uintptr_t x, y;
  bool accepted;
};

constexpr OverlapCase kCases[] = {
    {"apart", "(4,8):(8,1)", "(4,8):(8,1)", f32, 0x1000, 0x2000, true},
    {"end to end", "(4,8):(8,1)", "(4,8):(8,1)", f32, 0x1000, 0x1080, true},
    {"in place", "(4,8):(8,1)", "(4,8):(8,1)", f32, 0x1000, 0x1000, true},
    {"in place, another dtype of that size", "(4,8):(8,1)", "(4,8):(8,1)", i32, 0x1000, 0x1000,
     true},
    {"in place, strides of extent 1 differ", "(1,8):(8,1)", "(1,8):(0,1)", f32, 0x1000, 0x1000,
     true},
    {"in place, another size", "(4,8):(8,1)", "(4,8):(8,1)", f16, 0x1000, 0x1000, false},
    {"in place, another order", "(4,8):(8,1)", "(4,8):(1,4)", f32, 0x1000, 0x1000, false},
    {"shifted", "(4,8):(8,1)", "(4,8):(8,1)", f32, 0x1000, 0x1020, false},
    {"shifted down", "(4,8):(8,1)", "(4,8):(8,1)", f32, 0x1020, 0x1000, false},
    {"broadcast input", "(4,8):(0,1)", "(4,8):(8,1)", f32, 0x1000, 0x1000, false},
    {"halves of one matrix", "(4,8):(16,1)", "(4,8):(16,1)", f32, 0x1000, 0x1020, true},
};

TEST(BinderOverlap, AllowsInPlaceAndDisjointOnly) {
  for (const OverlapCase& c : kCases) {
    SCOPED_TRACE(c.name);
    HandPlan plan;
    plan.in("x", c.x_layout, c.x_dtype).out("y", c.y_layout);
    const Binder binder = plan.binder();
    std::array<std::byte, kMaxParamBytes> params;
    const std::vector<Argument> args = {on_device(c.x), on_device(c.y)};
    const auto bind = [&] { (void)bind_one(binder, args, nullptr, params); };
    if (c.accepted) {
      EXPECT_NO_THROW(bind());
    } else {
      EXPECT_EQ(expect_error(ErrorCode::invalid_argument,
                             "tensor 'y' (argument 1) overlaps tensor 'x' (argument 0)", bind),
                "/tensors/y");
    }
  }
}

TEST(BinderOverlap, ComparesSymbolicLayoutsByTheirValues) {
  HandPlan plan;
  plan.in("x", "(M,N):(S,1)").out("y", "(M,N):(T,1)");
  const Binder binder = plan.binder();
  std::array<std::byte, kMaxParamBytes> params;
  const std::vector<Argument> args = {on_device(0x1000), on_device(0x1000)};
  SymbolValues symbols = {{"M", 4}, {"N", 8}, {"S", 16}, {"T", 16}};
  EXPECT_EQ(bind_one(binder, args, &symbols, params).blocks, 1U);
  symbols["T"] = 24;
  expect_error(ErrorCode::invalid_argument, "overlaps",
               [&] { (void)bind_one(binder, args, &symbols, params); });
}

TEST(BinderOverlap, RefusesTwoOutputsInOnePlace) {
  HandPlan plan;
  plan.out("y", "8:1").out("z", "8:1");
  const Binder binder = plan.binder();
  std::array<std::byte, kMaxParamBytes> params;
  const std::vector<Argument> args = {on_device(0x1000), on_device(0x1000)};
  expect_error(ErrorCode::invalid_argument, "overlaps tensor 'z'",
               [&] { (void)bind_one(binder, args, nullptr, params); });
}

TEST(BinderOverlap, LetsInputsShareMemory) {
  HandPlan plan;
  plan.in("x", "8:1").in("z", "8:1").out("y", "8:1");
  const Binder binder = plan.binder();
  std::array<std::byte, kMaxParamBytes> params;
  const std::vector<Argument> args = {on_device(0x1000), on_device(0x1010), on_device(0x2000)};
  EXPECT_EQ(bind_one(binder, args, nullptr, params).blocks, 1U);
}

}  // namespace
}  // namespace tilejit::launch
