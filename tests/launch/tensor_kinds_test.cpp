#include "launch/tensor_kinds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/hand_plans.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::launch {
namespace {

/// A tensor given at run time.
struct Given {
  std::vector<std::int64_t> shape, stride;
  DType dtype = f32;
  std::uintptr_t address = 0x10000;

  [[nodiscard]] Argument argument() const { return {dtype, on_device(address), shape, stride}; }
};

std::vector<Argument> arguments(const std::vector<Given>& given) {
  std::vector<Argument> args;
  for (const Given& one : given) args.push_back(one.argument());
  return args;
}

Fused binary(const std::string& formula) {
  return {.name = "op", .tensors = {{.name = "x"}, {.name = "y"}}, .formula = formula};
}

Fused descriptor(const Specializer& specializer, const std::vector<Given>& given) {
  TensorKinds kinds;
  TensorSizes sizes;
  specializer.classify(arguments(given), kinds, sizes);
  return *specializer.descriptor(kinds).fused();
}

TensorKinds kinds_of(const Specializer& specializer, const std::vector<Given>& given) {
  TensorKinds kinds;
  TensorSizes sizes;
  specializer.classify(arguments(given), kinds, sizes);
  return kinds;
}

TEST(Specializer, KnowsWhatDoesNotChangeAndNamesTheRest) {
  const struct {
    const char* what;
    std::vector<Given> given;
    const char* x;
    const char* y;
    std::vector<Symbol> symbols;
  } kRows[] = {
      {"contiguous rows",
       {{{100, 1024}, {1024, 1}}, {{100, 1024}, {1024, 1}}},
       "(n1,n0):(n0,1)",
       "(n1,n0):(n0,1)",
       {{"n0", 4}}},
      {"odd rows",
       {{{100, 1023}, {1023, 1}}, {{100, 1023}, {1023, 1}}},
       "(n1,n0):(n0,1)",
       "(n1,n0):(n0,1)",
       {}},
      {"a pitch that is a multiple of 16 bytes, and one that is not",
       {{{100, 1000}, {1024, 1}}, {{100, 1000}, {1001, 1}}},
       "(n1,n0):(s0_0,1)",
       "(n1,n0):(s1_0,1)",
       {{"n0", 4}, {"s0_0", 4}}},
      {"transposed",
       {{{64, 128}, {1, 64}}, {{64, 128}, {128, 1}}},
       "(n1,n0):(1,n1)",
       "(n1,n0):(n0,1)",
       {{"n0", 4}, {"n1", 4}}},
      {"every second element",
       {{{70}, {2}}, {{70}, {1}}},
       "(n0):(s0_0)",
       "(n0):(1)",
       {{"n0", 2}, {"s0_0", 2}}},
      {"broadcast by stride and by extent",
       {{{8, 1}, {7, 3}}, {{8, 96}, {96, 1}}},
       "(n1,1):(s0_0,0)",
       "(n1,n0):(n0,1)",
       {{"n0", 4}}},
      {"repeated",
       {{{8, 96}, {0, 1}}, {{8, 96}, {96, 1}}},
       "(n1,n0):(0,1)",
       "(n1,n0):(n0,1)",
       {{"n0", 4}}},
      {"small extents",
       {{{500, 3}, {3, 1}}, {{500, 3}, {3, 1}}},
       "(n1,3):(3,1)",
       "(n1,3):(3,1)",
       {}},
      {"a bias of fewer modes",
       {{{1024}, {1}}, {{5, 6, 1024}, {6144, 1024, 1}}},
       "(n0):(1)",
       "(n2,n1,n0):(n0*n1,n0,1)",
       {{"n0", 4}}},
      {"half precision, eight elements in 16 bytes",
       {{{40, 24}, {24, 1}, f16}, {{40, 24}, {24, 1}}},
       "(n1,n0):(n0,1)",
       "(n1,n0):(n0,1)",
       {{"n0", 8}}},
      {"nothing at all",
       {{{0, 24}, {77, 5}}, {{0, 24}, {24, 1}}},
       "(n1,n0):(n0,1)",
       "(n1,n0):(n0,1)",
       {{"n0", 4}}},
      {"one value", {{{}, {}}, {{24}, {1}}}, "1:0", "(n0):(1)", {{"n0", 4}}},
  };
  const Specializer specializer(binary("y = x + 1"), 4);
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.what);
    const Fused op = descriptor(specializer, row.given);
    EXPECT_EQ(to_string(op.tensors[0].layout), to_string(parse_layout(row.x)));
    EXPECT_EQ(to_string(op.tensors[1].layout), to_string(parse_layout(row.y)));
    EXPECT_EQ(op.symbols, row.symbols);
    EXPECT_NO_THROW(validate(op));
  }
}

TEST(Specializer, NamesExtentsByTheirValuesWhereAnOutputLacksAxes) {
  const Specializer sum(binary("y = sum(x, axis=1)"), 4);
  const Fused op = descriptor(sum, {{{50, 60}, {60, 1}}, {{50}, {1}}});
  EXPECT_EQ(to_string(op.tensors[0].layout), "(n0,n1):(n1,1)");
  EXPECT_EQ(to_string(op.tensors[1].layout), "(n0):(1)");
  EXPECT_NO_THROW(validate(op));
  // Which extents are equal is part of the kind, since the descriptor follows from it.
  EXPECT_FALSE(kinds_of(sum, {{{50, 60}, {60, 1}}, {{50}, {1}}}) ==
               kinds_of(sum, {{{50, 60}, {60, 1}}, {{60}, {1}}}));
  EXPECT_NO_THROW(validate(descriptor(sum, {{{64, 64}, {64, 1}}, {{64}, {1}}})));
}

TEST(Specializer, TakesDtypesAndAlignmentFromTheTensors) {
  Fused op = binary("y = x + 1");
  op.tensors[1].dtype = tf32;
  const Specializer specializer(op, 4);
  const Fused made =
      descriptor(specializer, {{{64}, {1}, bf16, 0x10008}, {{64}, {1}, f32, 0x20004}});
  EXPECT_EQ(made.tensors[0].dtype, bf16);
  EXPECT_EQ(made.tensors[0].align, 8);
  EXPECT_EQ(made.tensors[1].dtype, tf32);
  EXPECT_EQ(made.tensors[1].align, 4);
  EXPECT_EQ(descriptor(specializer, {{{64}, {1}, f64, 0}, {{64}, {1}}}).tensors[0].align, 16);
}

TEST(Specializer, OneKindServesAllSizesAlike) {
  const Specializer specializer(binary("y = x + 1"), 4);
  const TensorKinds first =
      kinds_of(specializer, {{{100, 1024}, {1024, 1}}, {{100, 1024}, {1024, 1}}});
  const TensorKinds same = kinds_of(specializer, {{{7, 64}, {64, 1}}, {{7, 64}, {64, 1}}});
  EXPECT_TRUE(first == same);
  EXPECT_EQ(first.hash(), same.hash());
  const std::vector<std::vector<Given>> others = {
      {{{7, 62}, {62, 1}}, {{7, 62}, {62, 1}}},                // divided by 2
      {{{7, 64}, {64, 1}, f16}, {{7, 64}, {64, 1}}},           // another dtype
      {{{7, 64}, {64, 1}, f32, 0x10008}, {{7, 64}, {64, 1}}},  // aligned less
      {{{7, 64}, {1, 7}}, {{7, 64}, {64, 1}}},                 // another order
      {{{2, 64}, {64, 1}}, {{2, 64}, {64, 1}}},                // a small extent
      {{{1, 64}, {64, 1}}, {{7, 64}, {64, 1}}},                // broadcast
      {{{7, 64}, {68, 1}}, {{7, 64}, {64, 1}}},                // a pitch
      {{{64}, {1}}, {{7, 64}, {64, 1}}},                       // fewer modes
  };
  std::set<std::uint64_t> hashes = {first.hash()};
  for (const auto& other : others) {
    const TensorKinds kinds = kinds_of(specializer, other);
    EXPECT_FALSE(kinds == first);
    hashes.insert(kinds.hash());
  }
  EXPECT_EQ(hashes.size(), others.size() + 1);
}

TEST(Specializer, RefusesWhatCannotBeDispatchedOn) {
  const Specializer specializer(binary("y = x + 1"), 4);
  const auto refused = [&](const std::string& text, const std::vector<Argument>& args,
                           ErrorCode code = ErrorCode::invalid_argument) {
    TensorKinds kinds;
    TensorSizes sizes;
    expect_error(code, text, [&] { specializer.classify(args, kinds, sizes); });
  };
  const Given good{{8}, {1}};
  refused("takes 2 arguments (2 tensors, then 0 scalars), not 1", {good.argument()});
  refused("tensor 'y' (argument 1) comes without shape", {good.argument(), on_device(0x1000)});
  const std::vector<std::int64_t> many(33, 2), one = {1};
  refused("more than 32 modes", {good.argument(), {f32, on_device(0x1000), many, many}});
  refused("has not one stride an extent", {good.argument(), {f32, on_device(0x1000), many, one}});
  expect_error(ErrorCode::invalid_argument, "known_extent is 65; take 0 to 64",
               [] { (void)Specializer(binary("y = x"), 65); });
  expect_error(ErrorCode::invalid_formula, "", [] { (void)Specializer(binary("y = = x"), 4); });
}

}  // namespace
}  // namespace tilejit::launch
