// Which family of kernels multiplies what on which target: docs/planning-rules.md has the table,
// and each entry of it is compiled. Its machine code holds tensor instructions where the table says
// so, and nothing that ruins a main loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <tuple>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/sass.hpp"
#include "support/source_dir.hpp"
#include "templates/nvrtc.hpp"

namespace tilejit {
namespace {

constexpr const char* kFamilyTargets[] = {"sm_80",  "sm_86",   "sm_89",
                                          "sm_90a", "sm_100a", "sm_120a"};

struct Operands {
  DType a, b, d;
};
constexpr Operands kOperandTypes[] = {
    {f16, f16, f16}, {bf16, bf16, bf16},     {tf32, tf32, f32},      {f32, f32, f32},
    {f64, f64, f64}, {f8e4m3, f8e4m3, bf16}, {f8e4m3, f8e5m2, bf16}, {f8e5m2, f8e5m2, f32},
    {i8, i8, i32},   {i8, u8, i32},          {u8, u8, i32},
};

struct Layouts {
  const char *what, *a, *b, *d;
};
// Large, so that no blocks share a tile: those that do wait for each other by fences.
constexpr Layouts kRowsByRows = {"rows by rows", "(4096,1024):(1024,1)", "(1024,4096):(4096,1)",
                                 "(4096,4096):(4096,1)"};
constexpr Layouts kOtherLayouts[] = {
    {"columns by columns", "(4000,328):(1,4000)", "(328,3080):(1,328)", "(4000,3080):(1,4000)"},
    {"odd", "(3333,131):(131,1)", "(131,2555):(2555,1)", "(3333,2555):(2555,1)"},
    {"symbols", "(M,K):(K,1)", "(K,N):(N,1)", "(M,N):(N,1)"},
    {"rows by columns", "(4096,1024):(1024,1)", "(1024,4096):(1,1024)", "(4096,4096):(4096,1)"},
    {"nested", "((4,64),64):((1,256),4)", "(64,(8,32)):(8,(1,512))", "(256,256):(256,1)"},
};

Fused product(const Operands& types, const Layouts& layouts) {
  return {
      .name = "product",
      .tensors = {{"a", types.a, layouts.a}, {"b", types.b, layouts.b}, {"d", types.d, layouts.d}},
      .formula = is_floating(types.d) && types.d != f64 ? "d = relu(a @ b)" : "d = a @ b"};
}

plan::Plan plan_of(const Operands& types, const Layouts& layouts, const char* target) {
  const Fused op = product(types, layouts);
  return plan::make_plan(op, formula::analyze(op), parse_target(target));
}

/// After copies of operands, if there are any, and before reductions of its partial results.
const plan::Plan& product_of(const plan::Plan& plan) {
  const plan::Plan* product = &plan;
  for (const plan::Plan& part : plan::parts_of(plan)) {
    if (plan::matmul_of(part) != nullptr) product = &part;
  }
  return *product;
}

/// "wgmma m64k16", "m16n8k16", or "simt".
std::string family_of(const plan::Plan& plan) {
  if (const auto* const wgmma = std::get_if<plan::MatmulWgmma>(&product_of(plan).family))
    return "wgmma m64k" + std::to_string(wgmma->atom.k);
  const auto* const mma = std::get_if<plan::MatmulMma>(&product_of(plan).family);
  if (mma == nullptr) return "simt";
  return "m" + std::to_string(mma->atom.m) + "n" + std::to_string(mma->atom.n) + "k" +
         std::to_string(mma->atom.k);
}

void expect_clean(const plan::Plan& plan, const char* target) {
  static const std::regex kSpills("[1-9]\\d* bytes spill");
  static const std::regex kTensor(R"(\b[HIDQ]G?MMA\b)"), kForbidden(R"(\b(MEMBAR|LDL|STL)\b)");
  const operation::Source source = render::render(plan);
  const compile::Compiled compiled =
      test::nvrtc().compile({.source = {source.name, source.text, source.headers},
                             .target = target,
                             .options = {"--ptxas-options=-v"},
                             .want_ptx = false});
  EXPECT_FALSE(std::regex_search(compiled.log, kSpills)) << compiled.log;
  // C7513, for one: ptxas waits for each wgmma by itself.
  EXPECT_THAT(compiled.log, testing::Not(testing::HasSubstr("C75")));
  if (!test::has_disassembler()) return;
  int tensor_instructions = 0;
  for (const auto& [kernel, code] : test::sass_of(compiled.cubin)) {
    for (const std::string& instruction : code) {
      tensor_instructions += std::regex_search(instruction, kTensor);
      EXPECT_FALSE(std::regex_search(instruction, kForbidden)) << instruction;
    }
  }
  EXPECT_EQ(tensor_instructions > 0, family_of(plan) != "simt");
}

std::string name_of(const Operands& types) {
  const std::string a(to_string(types.a)), b(to_string(types.b));
  return a == b ? a : a + ", " + b;
}

class ProductFamilies : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, ProductFamilies, testing::ValuesIn(kFamilyTargets),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ProductFamilies, CompileCleanForEveryType) {
  for (const Operands& types : kOperandTypes) {
    SCOPED_TRACE(name_of(types));
    expect_clean(plan_of(types, kRowsByRows, GetParam()), GetParam());
  }
}

TEST_P(ProductFamilies, CompileCleanForOtherLayouts) {
  for (const Layouts& layouts : kOtherLayouts) {
    for (const Operands& types : {Operands{bf16, bf16, bf16}, Operands{f32, f32, f32},
                                  Operands{f64, f64, f64}, Operands{i8, u8, i32}}) {
      SCOPED_TRACE(name_of(types) + ", " + layouts.what);
      expect_clean(plan_of(types, layouts, GetParam()), GetParam());
    }
  }
}

TEST_P(ProductFamilies, ComputedOperandsCompileClean) {
  for (const auto& [b, type, formula] : {std::tuple(i8, bf16, "d = a @ bf16(b * 0.5)"),
                                         std::tuple(f64, f32, "d = a @ gelu(f32(b))")}) {
    SCOPED_TRACE(formula);
    const Fused op{
        .name = "product",
        .tensors = {{"a", type, "(16,4096)"}, {"b", b, "(4096,4000)"}, {"d", type, "(16,4000)"}},
        .formula = formula,
        .tuning = {.splits = 1}};  // blocks that share a tile wait for each other by fences
    const plan::Plan plan = plan::make_plan(op, formula::analyze(op), parse_target(GetParam()));
    ASSERT_TRUE(plan::matmul_of(product_of(plan))->b.is_computed());
    expect_clean(plan, GetParam());
  }
}

// One kernel on sm_90a, with every way to hand sums to a formula.
TEST(ProductPairs, CompileClean) {
  struct Case {
    const char *u, *y;
    DType type;
    std::array<int, 2> tile;
  };
  constexpr const char *kByRows = "(1024,4096):(4096,1)", *kByColumns = "(1024,4096):(1,1024)";
  constexpr const char* kRows = "(4096,4096):(4096,1)";
  for (const Case& c :
       {Case{kByRows, kRows, bf16, {128, 128}}, Case{kByRows, kRows, f32, {128, 128}},
        Case{kByColumns, kRows, bf16, {128, 128}}, Case{kByColumns, kRows, bf16, {64, 192}},
        Case{kByColumns, kRows, bf16, {64, 256}},
        Case{kByColumns, "(4096,4096):(1,4096)", bf16, {128, 120}}}) {
    SCOPED_TRACE(std::string(c.u) + " " + c.y + " " + std::to_string(c.tile[0]));
    const Fused op{.name = "pair",
                   .tensors = {{"x", bf16, "(4096,1024)"},
                               {"u", bf16, c.u},
                               {"v", bf16, c.u},
                               {"rest", c.type, c.y},
                               {"y", c.type, c.y}},
                   .formula = "y = silu(x @ u) * (x @ v) + rest",
                   .tuning = {.tile = c.tile}};
    const plan::Plan plan = plan::make_plan(op, formula::analyze(op), parse_target("sm_90a"));
    ASSERT_TRUE(plan::matmul_of(product_of(plan))->second);
    expect_clean(plan, "sm_90a");
  }
}

TEST(ProductStatistics, CompileClean) {
  for (const char* formula : {"y = (x * rsqrt(mean(x * x) + 1)) @ u + v",
                              "h = x * rsqrt(mean(x * x) + 1); y = silu(h @ u) * (h @ v)",
                              "y = (x / (1 + max(abs(x)))) @ v + gelu(u)"}) {
    for (const std::array<int, 2> tile : {std::array{128, 128}, {64, 192}}) {
      SCOPED_TRACE(formula + (" " + std::to_string(tile[0])) + " by " + std::to_string(tile[1]));
      const Fused op{.name = "norm",
                     .tensors = {{"x", bf16, "(4096,4096)"},
                                 {"u", bf16, "(4096,4096)"},
                                 {"v", bf16, "(4096,4096)"},
                                 {"y", bf16, "(4096,4096)"}},
                     .formula = formula,
                     .tuning = {.tile = tile}};
      const plan::Plan plan = plan::make_plan(op, formula::analyze(op), parse_target("sm_90a"));
      ASSERT_NE(plan::matmul_of(product_of(plan))->statistic, expr::kNoNode);
      expect_clean(plan, "sm_90a");
    }
  }
}

// A product that reduces along N, and the kernel that follows. Sizes decide about tiles.
TEST(ProductReductions, CompileClean) {
  struct Size {
    int m, n, k;
  };
  constexpr Size kSizes[] = {{4096, 4096, 1024}, {64, 32768, 1024}};
  for (const char* formula : {"m = max(x @ w)", "s = log(sum(exp(x @ w + bias)))",
                              "y = gelu(x @ w + bias); m = max(abs(y)); s = sum(y * y)",
                              "p = x @ w; y = p + rest; m = max(p) - min(p * rest); s = mean(p)"}) {
    for (const Size& size : kSizes) {
      SCOPED_TRACE(formula + (" " + std::to_string(size.m)) + " by " + std::to_string(size.n));
      Fused op{.name = "reduced",
               .tensors = {{"x", bf16, Layout(IntTuple{size.m, size.k}, IntTuple{size.k, 1})},
                           {"w", bf16, Layout(IntTuple{size.k, size.n}, IntTuple{size.n, 1})},
                           {"bias", bf16, Layout(size.n, 1)},
                           {"rest", bf16, Layout(IntTuple{size.m, size.n}, IntTuple{size.n, 1})},
                           {"y", bf16, Layout(IntTuple{size.m, size.n}, IntTuple{size.n, 1})},
                           {"m", f32, Layout(size.m, 1)},
                           {"s", f32, Layout(size.m, 1)}},
               .formula = formula};
      std::erase_if(op.tensors, [&](const Tensor& tensor) {
        if (tensor.name.size() > 1) return op.formula.find(tensor.name) == std::string::npos;
        return tensor.name != "x" && tensor.name != "w" &&
               op.formula.find(tensor.name + " =") == std::string::npos;
      });
      const plan::Plan plan = plan::make_plan(op, formula::analyze(op), parse_target("sm_90a"));
      EXPECT_FALSE(plan::matmul_of(product_of(plan))->reductions.empty());
      expect_clean(plan, "sm_90a");
    }
  }
}

TEST_P(ProductFamilies, LightPlansCompileClean) {
  for (const Operands& types :
       {Operands{bf16, bf16, bf16}, Operands{f32, f32, f32}, Operands{f64, f64, f64},
        Operands{f8e4m3, f8e5m2, bf16}, Operands{i8, u8, i32}}) {
    SCOPED_TRACE(name_of(types));
    const Fused op = product(types, kOtherLayouts[1]);
    const formula::Analysis analysis = formula::analyze(op);
    const Target target = parse_target(GetParam());
    const auto light = plan::make_light_plan(op, analysis, plan::make_plan(op, analysis, target));
    ASSERT_TRUE(light);
    expect_clean(*light, GetParam());
  }
}

TEST(ProductFamiliesPage, HasTheTable) {
  std::string table = "| operands |", rule = "|---|";
  for (const char* target : kFamilyTargets) {
    table += std::string(" ") + target + " |";
    rule += "---|";
  }
  table += "\n" + rule + "\n";
  for (const Operands& types : kOperandTypes) {
    table += "| " + name_of(types) + " |";
    for (const char* target : kFamilyTargets) {
      table += " " + family_of(plan_of(types, kRowsByRows, target)) + " |";
    }
    table += "\n";
  }
  std::ifstream file(test::source_dir() / "docs/planning-rules.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find(table), std::string::npos) << "docs/planning-rules.md should have\n"
                                                       << table;
}

}  // namespace
}  // namespace tilejit
