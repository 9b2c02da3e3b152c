#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/hand_plans.hpp"
#include "launch/binder.hpp"
#include "operation/fast_divisor.hpp"

namespace tilejit::launch {
namespace {

using Values = std::vector<std::int64_t>;

/// A symbolic operation: y (M,N):(N,1), x (M,N):(S,1) with S a multiple of 8, scale N:1.
HandPlan rows_plan() {
  HandPlan plan;
  plan.out("y", "(M,N):(N,1)").in("x", "(M,N):(S,1)").in("scale", "(1,N):(0,1)");
  plan.plan.signature.symbols["S"] = 8;
  plan.total().dim("M").dim(parse_dim("4*S")).divisor("N", 4);
  plan.plan.vector = 4;
  plan.plan.family = plan::Map{.index = plan::IndexWidth::both};
  return plan;
}

/// What is known of one argument: a bare pointer if the shape is empty.
struct Given {
  Values shape = {}, stride = {};
};

struct SymbolCase {
  const char* name;
  Given y, x, scale;
  SymbolValues symbols;
  std::int64_t m, n, s;  // wanted
};

const SymbolCase kSolved[] = {
    {"all from tensors", {{3, 10}, {10, 1}}, {{3, 10}, {16, 1}}, {{1, 10}, {0, 1}}, {}, 3, 10, 16},
    {"from one tensor", {}, {{3, 10}, {16, 1}}, {}, {}, 3, 10, 16},
    {"by name only", {}, {}, {}, {{"M", 3}, {"N", 10}, {"S", 16}}, 3, 10, 16},
    {"both, and they agree", {{3, 10}, {10, 1}}, {}, {}, {{"N", 10}, {"S", 24}}, 3, 10, 24},
    {"extent from a stride", {{3, 10}, {10, 1}}, {{3, 10}, {8, 1}}, {}, {}, 3, 10, 8},
    {"stride of one row does not matter", {{1, 10}, {5, 1}}, {{1, 10}, {7, 1}}, {}, {}, 1, 10, 0},
};

std::vector<Argument> arguments(const SymbolCase& c) {
  std::vector<Argument> args;
  std::uintptr_t address = 1 << 20;
  for (const Given* given : {&c.y, &c.x, &c.scale}) {
    args.push_back(given->shape.empty()
                       ? Argument(on_device(address))
                       : Argument(f32, on_device(address), given->shape, given->stride));
    address <<= 4;
  }
  return args;
}

TEST(BinderSymbols, FindsValuesAndWritesWhatDependsOnThem) {
  const Binder binder = rows_plan().binder();
  for (const SymbolCase& c : kSolved) {
    SCOPED_TRACE(c.name);
    std::array<std::byte, kMaxParamBytes> params;
    const Grid grid = bind_one(binder, arguments(c), &c.symbols, params);
    const std::int64_t row = (c.n + 3) / 4;
    EXPECT_EQ(grid.blocks, 1U);
    EXPECT_FALSE(grid.wide);
    EXPECT_EQ(field_at<std::int64_t>(params.data(), 24), c.m * row);
    EXPECT_EQ(field_at<std::int64_t>(params.data(), 32), c.m);
    EXPECT_EQ(field_at<std::int64_t>(params.data(), 40), 4 * c.s);
    const operation::FastDivisor want = operation::make_divisor(row);
    const auto got = field_at<operation::FastDivisor>(params.data(), 48);
    EXPECT_EQ(got.divisor, want.divisor);
    EXPECT_EQ(got.magic, want.magic);
    EXPECT_EQ(got.shift, want.shift);
  }
}

struct ContradictionCase {
  const char* name;
  Given y, x, scale;
  SymbolValues symbols;
  const char* text;
  const char* where;
};

const ContradictionCase kRejected[] = {
    {"two extents",
     {{3, 10}, {10, 1}},
     {{3, 12}, {16, 1}},
     {},
     {},
     "symbol 'N' is 10 by tensor 'y' but 12 by tensor 'x'",
     "/symbols/N"},
    {"name and tensor",
     {{3, 10}, {10, 1}},
     {},
     {},
     {{"N", 11}},
     "symbol 'N' is 11 by name but 10 by tensor 'y'",
     "/symbols/N"},
    {"extent and stride of one tensor",
     {{3, 10}, {12, 1}},
     {},
     {},
     {},
     "symbol 'N' is 10 by tensor 'y' but 12 by tensor 'y'",
     "/symbols/N"},
    {"promise",
     {{3, 10}, {10, 1}},
     {{3, 10}, {12, 1}},
     {},
     {},
     "symbol 'S' is 12 by tensor 'x'; the descriptor promises a multiple of 8",
     "/symbols/S"},
    {"promise by name",
     {},
     {},
     {},
     {{"M", 3}, {"N", 10}, {"S", 4}},
     "symbol 'S' is 4 by name; the descriptor promises",
     "/symbols/S"},
    {"known stride",
     {{3, 10}, {10, 2}},
     {},
     {},
     {{"S", 8}},
     "tensor 'y' (argument 0) has stride 2",
     "/tensors/y"},
    {"missing", {{3, 10}, {10, 1}}, {}, {}, {}, "symbol 'S' has no value", "/symbols/S"},
    {"missing extent", {}, {}, {}, {{"M", 3}, {"S", 8}}, "symbol 'N' has no value", "/symbols/N"},
    {"unknown", {}, {}, {}, {{"K", 3}}, "no symbol 'K'", "/symbols/K"},
    {"negative extent", {{-3, 10}, {10, 1}}, {}, {}, {}, "negative extent -3", "/tensors/y"},
    {"negative stride", {{3, 10}, {-10, 1}}, {}, {}, {}, "negative stride -10", "/tensors/y"},
    {"negative value", {}, {}, {}, {{"M", -1}}, "symbol 'M' cannot be -1", "/symbols/M"},
};

TEST(BinderSymbols, RejectsContradictions) {
  const Binder binder = rows_plan().binder();
  for (const ContradictionCase& c : kRejected) {
    SCOPED_TRACE(c.name);
    std::array<std::byte, kMaxParamBytes> params;
    const SymbolCase given{c.name, c.y, c.x, c.scale, c.symbols, 0, 0, 0};
    EXPECT_EQ(expect_error(ErrorCode::invalid_argument, c.text,
                           [&] { (void)bind_one(binder, arguments(given), &c.symbols, params); }),
              c.where);
  }
}

TEST(BinderSymbols, DividesByTheFactorExactly) {
  HandPlan plan;
  plan.out("y", Layout(parse_int_tuple("(8*N)"), parse_int_tuple("(1)"))).dim("N");
  const Binder binder = plan.binder();
  std::array<std::byte, kMaxParamBytes> params;
  const Values stride = {1}, even = {48}, odd = {50};
  (void)bind_one(binder, {{Argument(f32, on_device(0x1000), even, stride)}}, nullptr, params);
  EXPECT_EQ(field_at<std::int64_t>(params.data(), 8), 6);
  expect_error(ErrorCode::invalid_argument, "50 in mode 0, which is not a multiple of 8", [&] {
    (void)bind_one(binder, {{Argument(f32, on_device(0x1000), odd, stride)}}, nullptr, params);
  });
}

TEST(BinderSymbols, VerifiesProductsOnceTheirSymbolsAreKnown) {
  HandPlan plan;
  plan.out("y", Layout(parse_int_tuple("(M,N,8)"), parse_int_tuple("(8*N,8,1)")))
      .in("x", Layout(parse_int_tuple("(M,N,8)"), parse_int_tuple("(8,8*M,1)")));
  const Binder binder = plan.binder();
  std::array<std::byte, kMaxParamBytes> params;
  const Values shape = {3, 5, 8}, rows = {40, 8, 1}, columns = {8, 24, 1}, wrong = {8, 25, 1};
  const Argument y(f32, on_device(0x10000), shape, rows);
  EXPECT_EQ(
      bind_one(binder, {{y, Argument(f32, on_device(0x20000), shape, columns)}}, nullptr, params)
          .blocks,
      1U);
  expect_error(ErrorCode::invalid_argument, "25 in mode 1, which is not a multiple of 8", [&] {
    (void)bind_one(binder, {{y, Argument(f32, on_device(0x20000), shape, wrong)}}, nullptr, params);
  });
}

TEST(BinderSymbols, LaunchesNothingForAnExtentOfZero) {
  const Binder binder = rows_plan().binder();
  std::array<std::byte, kMaxParamBytes> params;
  const Values shape = {0, 10}, stride = {3, 3};
  const Grid grid =
      bind_one(binder, {{Argument(f32, nullptr, shape, stride), on_device(0), on_device(0)}},
               nullptr, params);
  EXPECT_EQ(grid.blocks, 0U);
}

TEST(BinderSymbols, ChoosesTheWideEntryFrom2To31) {
  HandPlan plan;
  plan.out("y", "N:1", u8).plan.family = plan::Map{.index = plan::IndexWidth::both};
  const Binder binder = plan.binder();
  std::array<std::byte, kMaxParamBytes> params;
  for (const auto& [n, wide] : {std::pair{(1LL << 31) - 1, false}, std::pair{1LL << 31, true}}) {
    const SymbolValues symbols = {{"N", n}};
    EXPECT_EQ(bind_one(binder, {{on_device(0x1000)}}, &symbols, params).wide, wide) << n;
  }
}

TEST(BinderSymbols, RefusesSizesBeyond63Bits) {
  const Binder binder = rows_plan().binder();
  std::array<std::byte, kMaxParamBytes> params;
  const SymbolValues symbols = {{"M", 1LL << 40}, {"N", 1LL << 40}, {"S", 8}};
  const std::vector<Argument> args = {on_device(0x1000), on_device(0x2000), on_device(0x3000)};
  expect_error(ErrorCode::unsupported, "more than 2^63-1",
               [&] { (void)bind_one(binder, args, &symbols, params); });
}

}  // namespace
}  // namespace tilejit::launch
