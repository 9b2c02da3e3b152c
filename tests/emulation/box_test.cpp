// The kernels of boxes, run on the CPU against the reference.
#include <algorithm>
#include <numeric>

#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

bool has_boxes(const Fused& op) {
  const plan::Plan plan =
      plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
  return std::holds_alternative<plan::Box>(plan.family);
}

TEST(EmulatedBoxes, AgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula = "y = x";
  };
  const Case cases[] = {
      {"runs of two modes, cut off",
       {{"x", f32, "(39,5,379,2):(5,1,195,73905)"}, {"y", f32, "(39,5,379,2):(3790,758,2,1)"}}},
      {"pairs of odd extents",
       {{"x", bf16, "(23,3,7,59,5):(1,9499,1357,23,28497)"},
        {"y", bf16, "(23,3,7,59,5):(6195,2065,295,5,1)"}},
       "y = where(x > 0, x, x * 0.0625)"},
      {"every second element",
       {{"x", i16, "(3,35,676):(47320,2,70)"}, {"y", i16, "(3,35,676):(23660,676,1)"}}},
      {"outputs in two orders",
       {{"x", f32, "(11,64,401):(1,11,704)"},
        {"y", f32, "(11,64,401):(25664,401,1)"},
        {"z", f32, "(11,64,401):(64,1,704)"}},
       "y = x; z = x * 2"},
      {"copied runs of odd rows beside an operand in order, of a tensor that is not aligned",
       {{"x", bf16, "(224,371):(1,225)", Access::in, 2},
        {"z", bf16, "(224,371):(371,1)"},
        {"y", bf16, "(224,371):(371,1)"}},
       "y = x + z"},
      {"copied runs in two outer modes, cut off",
       {{"x", bf16, "(416,45,4):(1,1669,417)"},
        {"z", bf16, "(416,45,4):(180,4,1)"},
        {"y", bf16, "(416,45,4):(180,4,1)"}},
       "y = x - z"},
      {"words of an input, cut off",
       {{"x", f16, "(28,17,73,3):(1,28,476,34748)"}, {"y", f16, "(28,17,73,3):(3723,219,3,1)"}},
       "y = 1 / (abs(x) + 1)"},
      {"words of bytes, of several modes",
       {{"x", i8, "(20,17,73,3):(1,20,340,24820)"}, {"y", i8, "(20,17,73,3):(3723,219,3,1)"}}},
      {"runs of five from two places",
       {{"x", bf16, "(3,3245,10,2,5):(324500,50,5,162250,1)"},
        {"y", bf16, "(3,3245,10,2,5):(324500,100,10,5,1)"}}},
      {"copied runs of whole matrices",
       {{"x", f16, "(65,33,31):(1023,1,33)"}, {"y", f16, "(65,33,31):(1023,31,1)"}}},
      {"of bytes", {{"x", i8, "(131,17,31):(527,1,17)"}, {"y", i8, "(131,17,31):(527,31,1)"}}},
      {"inputs in two orders, one repeated, and places",
       {{"a", i64, "(272,8,4,4,2):(1,1088,8704,272,34816)"},
        {"b", i64, "(272,8,4,4,2):(8,1,17408,4352,2176)"},
        {"w", i64, "(8,1,1,1):(1,0,0,0)"},
        {"y", i64, "(272,8,4,4,2):(256,32,8,2,1)"}},
       "y = a + b * w + iota(0) + iota(4)"},
      {"an input with gaps, which repeats along a mode in the middle",
       {{"x", f32, "(7,4,61,72):(1,504,0,7)"},
        {"y", f32, "(7,4,61,72):(17568,4392,72,1)"},
        {"z", f32, "(7,4,61,72):(288,1,2016,4)"}},
       "y = x; z = x * 0.5"},
      {"in place, in another order than the first output",
       {{"x", f32, "(5,7,1900):(1,5,35)"},
        {"y", f32, "(5,7,1900):(13300,1900,1)"},
        {"z", f32, "(5,7,1900):(1,5,35)", Access::inout}},
       "y = x + z; z = z * 2 + x"},
      {"in place, in the order of the first output",
       {{"x", f32, "(5,7,1900):(1,5,35)"}, {"y", f32, "(5,7,1900):(13300,1900,1)", Access::inout}},
       "y = y - x"},
      {"a formula of many copies",
       {{"x", f32, "(5,7,1900):(1,5,35)"}, {"y", f32, "(5,7,1900):(13300,1900,1)"}},
       "a = erf(x) * erf(x + 1) * erf(x + 2) * erf(x + 3); b = erf(a) * erf(a + 1) * erf(a + 2); "
       "y = erf(b) * erf(b + 1) * erf(b + 2) * erf(b + 3)"},
      {"groups of a costly formula beside an input in order and one that repeats, cut off",
       {{"x", f32, "(5,7,1900):(1,5,35)"},
        {"z", f32, "(5,7,1900):(13300,1900,1)"},
        {"w", f32, "(1,7,1):(0,1,0)"},
        {"y", f32, "(5,7,1900):(13300,1900,1)"}},
       "b = abs(x) + 1; e = tanh(w); y = z * b ** e * (b + 1) ** e * (b + 2) ** e * (b + 3) ** e * "
       "(b + 4) ** e * (b + 5) ** e * (b + 6) ** e * (b + 7) ** e"},
      {"a costly formula of all that a box has, beside inputs that repeat, cut off",
       {{"x", f32, "(5,77,17,22):(17,85,1,6545)"},
        {"z", f32, "(5,77,17,22):(28798,374,22,1)"},
        {"w", f32, "(1,77,17,1):(0,17,1,0)"},
        {"y", f32, "(5,77,17,22):(28798,374,22,1)"}},
       "y = exp(x - w) / (abs(z) + 1)"},
      {"in one order and in place, of an output with gaps",
       {{"x", f32, "(4411,17,7):(119,7,1)"},
        {"w", f32, "(1,17,1):(0,1,0)"},
        {"y", f32, "(4411,17,7):(180,9,1)", Access::inout}},
       "y = exp(-abs(y * w)) / (abs(x) + 1) + exp(-abs(x))"},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = c.formula};
    EXPECT_TRUE(has_boxes(op)) << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(25);
  kernels.verify_all(random);
}

TEST(EmulatedBoxes, OfVectorsAgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    int vector;
    const char* formula = "y = x";
  };
  const Case cases[] = {
      {"pairs, cut off",
       {{"x", bf16, "(6,4,83,8,10):(830,4980,1,19920,83)"},
        {"y", bf16, "(6,4,83,8,10):(26560,6640,80,10,1)"}},
       2},
      {"an output in another order, and one of wider elements",
       {{"x", bf16, "(5,410,16,2,4):(52480,1,820,410,13120)"},
        {"y", f32, "(5,410,16,2,4):(52480,128,8,4,1)"},
        {"z", bf16, "(5,410,16,2,4):(52480,1,820,410,13120)"}},
       2,
       "y = f32(x) * 2; z = x"},
      {"copied runs, and inputs that repeat",
       {{"x", f16, "(8,4,4,512):(2048,512,16384,1)"},
        {"a", f16, "(8,4,4,512):(16,1,4,128)"},
        {"w", f16, "(8,1,1,512):(1,0,0,8)"},
        {"y", f16, "(8,4,4,512):(8192,2048,512,1)"}},
       2,
       "y = max(x, a) * w"},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = c.formula};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    EXPECT_TRUE(std::holds_alternative<plan::Box>(plan.family)) << c.what;
    EXPECT_EQ(plan.vector, c.vector) << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(27);
  kernels.verify_all(random);
}

// Each block begins where a sector of the output does, the first of a row before the space.
TEST(EmulatedBoxes, OfWholeSectorsAgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula = "y = x";
  };
  const Case cases[] = {
      {"odd rows of halves",
       {{"x", f16, "(24,4,4,1025):(1,24600,98400,24)"},
        {"y", f16, "(24,4,4,1025):(16400,4100,1025,1)"}}},
      {"even rows, by pairs",
       {{"x", f16, "(24,4,2,1026):(1,24624,98496,24)"},
        {"y", f16, "(24,4,2,1026):(8208,2052,1026,1)"}}},
      {"odd rows of floats, beside others, and places",
       {{"x", f32, "(24,4,2,1025):(1,24600,98400,24)"},
        {"z", f32, "(24,4,2,1025):(8200,2050,1025,1)"},
        {"w", f32, "(1,1,1,1025):(0,0,0,1)"},
        {"y", f32, "(24,4,2,1025):(8200,2050,1025,1)", Access::inout}},
       "y = y + x * w - z + iota(3)"},
      {"a costly formula of bytes",
       {{"x", u8, "(24,8,4,1025):(1,24600,196800,24)"},
        {"y", u8, "(24,8,4,1025):(32800,4100,1025,1)"}},
       "y = u8(255 / (1 + f32(x)))"},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = c.formula};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    EXPECT_TRUE(std::holds_alternative<plan::Box>(plan.family)) << c.what;
    EXPECT_TRUE(plan.peeled) << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(29);
  kernels.verify_all(random);
}

/// Extents, most of them short, of 65,536 elements or more.
std::vector<std::int64_t> random_extents(Random& random) {
  std::vector<std::int64_t> extents;
  std::int64_t elements = 1;
  const std::size_t rank = 3 + random() % 3;
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    extents.push_back(2 + static_cast<std::int64_t>(random() % (i == 0 ? 70 : 14)));
    elements *= extents.back();
  }
  extents.push_back(1 + (1 << 16) / elements + static_cast<std::int64_t>(random() % 9));
  std::ranges::shuffle(extents, random);
  return extents;
}

/// A layout of `extents` whose modes lie in memory in a random order; now and then with gaps.
Layout random_layout(const std::vector<std::int64_t>& extents, Random& random) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  std::string shape, stride;
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t next = random() % 5 == 0 ? 2 : 1;
  for (const std::size_t m : order) {
    strides[m] = next;
    next = next * extents[m] + static_cast<std::int64_t>(random() % 8 == 0);
  }
  for (std::size_t m = 0; m < extents.size(); ++m) {
    shape += (m == 0 ? "" : ",") + std::to_string(extents[m]);
    stride += (m == 0 ? "" : ",") + std::to_string(strides[m]);
  }
  return parse_layout("(" + shape + "):(" + stride + ")");
}

TEST(EmulatedBoxes, AgreeWithTheReferenceForRandomOrders) {
  constexpr DType kTypes[] = {u8, i16, bf16, f32, f64};
  Random random(26);
  EmulatedKernels kernels;
  const int cases = random_cases(12);
  int boxes = 0;
  for (int i = 0; i < cases; ++i) {
    const std::vector<std::int64_t> extents = random_extents(random);
    const auto tensor = [&](const char* name) {
      return Tensor{name, kTypes[random() % std::size(kTypes)], random_layout(extents, random)};
    };
    Fused op{.tensors = {tensor("x"), tensor("y")}, .formula = "y = x"};
    if (i % 3 == 1) {
      op.tensors.push_back(tensor("a"));
      op.formula = "y = x + a";
    } else if (i % 3 == 2) {
      op.tensors.push_back(tensor("z"));
      op.formula = "y = x; z = x - 1";
    }
    boxes += has_boxes(op);
    kernels.add("case " + std::to_string(i), {.op = op, .symbols = {}, .scalars = {}});
  }
  EXPECT_GE(3 * boxes, cases);
  ASSERT_TRUE(kernels.compile());
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
