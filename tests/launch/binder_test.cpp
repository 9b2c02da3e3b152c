#include "launch/binder.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/hand_plans.hpp"

namespace tilejit::launch {
namespace {

using Extents = std::array<std::int64_t, 2>;

/// Binds into a buffer that tests can inspect.
struct Bound {
  alignas(16) std::array<std::byte, kMaxParamBytes> params;
  Grid grid;

  Bound(const Binder& binder, const std::vector<Argument>& args,
        const SymbolValues* symbols = nullptr) {
    params.fill(std::byte{0xEE});
    grid = bind_one(binder, args, symbols, params);
  }
  template <typename T>
  [[nodiscard]] T at(int offset) const {
    return field_at<T>(params.data(), offset);
  }
};

HandPlan add_plan() {
  HandPlan plan;
  plan.in("a", "(64,32):(32,1)").in("b", "(64,32):(32,1)").out("c", "(64,32):(32,1)");
  plan.plan.vector = 4;
  return plan;
}

TEST(Binder, WritesAddressesInTheOrderOfThePlan) {
  HandPlan plan = add_plan();
  plan.scalar("alpha", f32).scalar("beta", f64).total();
  const Bound bound(plan.binder(),
                    {on_device(0x10000), on_device(0x20000), on_device(0x30000), 1.5, 2});
  EXPECT_EQ(bound.at<std::uint64_t>(0), 0x10000U);
  EXPECT_EQ(bound.at<std::uint64_t>(8), 0x20000U);
  EXPECT_EQ(bound.at<std::uint64_t>(16), 0x30000U);
  EXPECT_EQ(bound.at<float>(24), 1.5F);
  EXPECT_EQ(bound.at<double>(32), 2.0);
  EXPECT_EQ(bound.at<std::int64_t>(40), 64 * 8);
  EXPECT_EQ(bound.at<std::uint8_t>(48), 0xEE);  // no byte beyond the struct
}

TEST(Binder, RowsAreTheUnitsOfReductions) {
  struct Row {
    const char* what;
    const char* layout;
    plan::Rows rows;  // modes are counted from the innermost
    int threads;
    std::uint32_t blocks;
  };
  const Row kRows[] = {
      {"a block a row", "(100,64)", {.first = 0, .row_threads = 128}, 128, 100},
      {"four rows a block", "(101,64)", {.first = 0, .row_threads = 32}, 128, 26},
      {"a cluster a row", "(100,64)", {.first = 0, .row_threads = 512, .cluster = 4}, 512, 400},
      {"everything in one row", "(100,64)", {.first = 0, .count = 2, .row_threads = 256}, 256, 1},
      {"rows side by side", "(100,64)", {.first = 1, .row_threads = 8}, 256, 2},
      {"empty rows still have results", "(100,0)", {.first = 0, .row_threads = 32}, 128, 25},
      {"no rows", "(0,64)", {.first = 0, .row_threads = 32}, 128, 0},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    HandPlan plan;
    plan.in("x", row.layout).out("y", row.layout);
    plan.plan.family = row.rows;
    plan.plan.threads = row.threads;
    EXPECT_EQ(Bound(plan.binder(), {on_device(0x10000), on_device(0x4000000)}).grid.blocks,
              row.blocks);
  }
}

// Was a division by zero.
TEST(Binder, RowsOfNothingAreLaunchedAndDivideByOne) {
  HandPlan plan;
  plan.in("x", "(8,M,N):(M,1,M)").out("y", "(8,1,1):(1,0,0)");
  plan.total().divisor("M", 1);
  plan.plan.family = plan::Rows{.first = 0, .count = 2, .row_threads = 32};
  plan.plan.threads = 32;
  const SymbolValues empty{{"M", 0}, {"N", 5}};
  const Bound bound(plan.binder(), {on_device(0x10000), on_device(0x4000000)}, &empty);
  EXPECT_EQ(bound.grid.blocks, 8U);
  EXPECT_EQ(bound.at<std::uint64_t>(24), 1U) << "the divisor";
}

TEST(Binder, EmptyTensorsNeedNoMemoryOfTheirOwn) {
  HandPlan plan;
  plan.in("x", "(4,0)").out("y", "(4,0)").out("z", "(4,0)");
  plan.plan.family = plan::Rows{.first = 0, .row_threads = 32};
  EXPECT_EQ(
      Bound(plan.binder(), {on_device(0), on_device(0x10000), on_device(0x10000)}).grid.blocks, 1U);
}

struct GridCase {
  const char* name;
  const char* layout;
  int vector, threads, unroll;
  std::uint32_t blocks;
};
constexpr GridCase kGrids[] = {
    {"exact", "(64,32)", 1, 256, 1, 8},
    {"a block more for the rest", "(2049)", 1, 256, 1, 9},
    {"rows round up to whole vectors", "(5,9)", 4, 1, 1, 15},
    {"unroll", "(1000)", 1, 32, 4, 8},
    {"one element", "1:0", 8, 1024, 16, 1},
    {"no element", "(0,7)", 1, 256, 1, 0},
    {"largest grid", "2147483647:1", 1, 1, 1, 2147483647},
};

TEST(Binder, CountsBlocks) {
  for (const GridCase& c : kGrids) {
    SCOPED_TRACE(c.name);
    HandPlan plan;
    plan.out("y", c.layout);
    plan.plan.vector = c.vector;
    plan.plan.threads = c.threads;
    plan.plan.unroll = c.unroll;
    EXPECT_EQ(Bound(plan.binder(), {on_device(0x1000)}).grid.blocks, c.blocks);
  }
}

TEST(Binder, RefusesMoreBlocksThanAGridHas) {
  HandPlan known;
  known.out("y", "2147483648:1").plan.threads = 1;
  expect_error(ErrorCode::unsupported, "2147483648 blocks", [&] { (void)known.binder(); });

  HandPlan symbolic;
  symbolic.out("y", "N:1").plan.threads = 1;
  const Binder binder = symbolic.binder();
  const SymbolValues symbols = {{"N", std::int64_t{1} << 31}};
  expect_error(ErrorCode::unsupported, "2147483648 blocks",
               [&] { Bound(binder, {on_device(0x1000)}, &symbols); });
}

TEST(Binder, RefusesMoreParametersThanALaunchPasses) {
  HandPlan fits;
  fits.out("y", "4:1");
  for (int i = 0; i < 511; ++i) fits.total();
  EXPECT_EQ(fits.plan.params_bytes, 4096);
  EXPECT_EQ(Bound(fits.binder(), {on_device(0x1000)}).at<std::int64_t>(4088), 4);
  fits.total();
  expect_error(ErrorCode::unsupported, "4104 bytes of parameters", [&] { (void)fits.binder(); });
}

TEST(Binder, BindsNothingForATensorWithoutElements) {
  HandPlan plan;
  plan.in("x", "(0,8):(8,1)").out("y", "(0,8):(8,1)");
  const Extents shape = {0, 8};
  const Extents stride = {99, 77};  // of no consequence
  const Bound bound(plan.binder(),
                    {static_cast<void*>(nullptr), Argument(f32, nullptr, shape, stride)});
  EXPECT_EQ(bound.grid.blocks, 0U);
  EXPECT_EQ(bound.at<std::uint8_t>(0), 0xEE);
}

TEST(Binder, ChecksKnownTensors) {
  const Binder binder = add_plan().binder();
  const Extents shape = {64, 32}, stride = {32, 1};
  EXPECT_EQ(Bound(binder, {Argument(f32, on_device(0x10000), shape, stride), on_device(0x20000),
                           Argument(f32, on_device(0x30000), shape, stride)})
                .grid.blocks,
            2U);
  EXPECT_EQ(Bound(binder, {on_device(0x10000), on_device(0x10000), on_device(0x30000)}).grid.blocks,
            2U);
}

struct RejectCase {
  const char* name;
  std::function<std::vector<Argument>()> args;
  const char* text;
  const char* where;
};

TEST(Binder, RejectsArgumentsThatContradictTheDescriptor) {
  static const Extents shape = {64, 32}, stride = {32, 1}, tall = {65, 32}, wide = {64, 1};
  static const std::array<std::int64_t, 3> deep = {64, 4, 8};
  const auto first = [](Argument x) {
    return [x] { return std::vector<Argument>{x, on_device(0x20000), on_device(0x30000)}; };
  };
  void* const memory = on_device(0x10000);
  const RejectCase cases[] = {
      {"too few",
       [] {
         return std::vector<Argument>{on_device(16), on_device(32)};
       },
       "takes 3 arguments (3 tensors, then 0 scalars), not 2", ""},
      {"number", first(7), "got a number", "/tensors/a"},
      {"null", first(static_cast<void*>(nullptr)), "null pointer", "/tensors/a"},
      {"misaligned", first(on_device(0x10004)), "aligned to 4 bytes only", "/tensors/a"},
      {"dtype", first({f16, memory, shape, stride}), "has dtype f16; the descriptor wants f32",
       "/tensors/a"},
      {"extent", first({f32, memory, tall, stride}), "has extent 65 in mode 0", "/tensors/a"},
      {"stride", first({f32, memory, shape, wide}), "has stride 64 in mode 0", "/tensors/a"},
      {"rank", first({f32, memory, deep, deep}), "has 3 extents; the layout (64,32):(32,1) wants 2",
       "/tensors/a"},
      {"strides missing", first({f32, memory, shape, {}}), "2 extents but 0 strides", "/tensors/a"},
  };
  const Binder binder = add_plan().binder();
  for (const RejectCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(expect_error(ErrorCode::invalid_argument, c.text, [&] { Bound(binder, c.args()); }),
              c.where);
  }
}

TEST(Binder, RejectsSymbolsOfAnOperationWithout) {
  const Binder binder = add_plan().binder();
  const SymbolValues none = {}, some = {{"N", 4}};
  const std::vector<Argument> args = {on_device(0x10000), on_device(0x20000), on_device(0x30000)};
  EXPECT_EQ(Bound(binder, args, &none).grid.blocks, 2U);
  expect_error(ErrorCode::invalid_argument, "no symbol 'N'", [&] { Bound(binder, args, &some); });
}

TEST(Binder, AcceptsWhatAFrameworkCallsTheSame) {
  HandPlan plan;
  plan.in("x", "(1,8):(8,1)", tf32).in("bias", "1:0").out("y", "(1,8):(8,1)");
  const Extents shape = {1, 8}, stride = {12345, 1};  // a stride of extent 1 is arbitrary
  EXPECT_EQ(Bound(plan.binder(), {Argument(f32, on_device(0x1000), shape, stride),
                                  Argument(f32, on_device(0x2000), {}, {}),  // no dimensions
                                  Argument(f32, on_device(0x3000), shape, stride)})
                .grid.blocks,
            1U);
}

TEST(Binder, TakesNestedModesByTheirLeaves) {
  HandPlan plan;
  plan.in("x", "(8,(4,2)):(1,(8,32))").out("y", "(8,(4,2)):(1,(8,32))");
  const Binder binder = plan.binder();
  const std::array<std::int64_t, 3> shape = {8, 4, 2}, stride = {1, 8, 32};
  EXPECT_EQ(Bound(binder, {Argument(f32, on_device(0x1000), shape, stride), on_device(0x2000)})
                .grid.blocks,
            1U);
  const Extents flat = {8, 8}, flat_stride = {1, 8};
  expect_error(ErrorCode::invalid_argument, "one a leaf, because a mode of it is nested", [&] {
    Bound(binder, {Argument(f32, on_device(0x1000), flat, flat_stride), on_device(0x2000)});
  });
}

}  // namespace
}  // namespace tilejit::launch
