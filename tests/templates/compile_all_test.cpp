// Every template, every function of the formula language and every dtype, compiled by NVRTC for
// every target; the compiler's log gives spills and vector widths.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <vector>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/source_dir.hpp"
#include "support/specs.hpp"
#include "templates/nvrtc.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {
namespace {

namespace fs = std::filesystem;

const char* const kTargets[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"};

compile::Compiled compile_plan(const plan::Plan& plan, const std::string& target) {
  const operation::Source source = render::render(plan);
  return test::nvrtc().compile({.source = {source.name, source.text, source.headers},
                                .target = target,
                                .options = {"--ptxas-options=-v"},
                                .want_ptx = true});
}

compile::Compiled compile_op(const Fused& op, const std::string& target) {
  return compile_plan(plan::make_plan(op, formula::analyze(op), parse_target(target)), target);
}

void expect_no_spills(const compile::Compiled& compiled) {
  static const std::regex kSpills("(\\d+) bytes spill stores, (\\d+) bytes spill loads");
  std::sregex_iterator found(compiled.log.begin(), compiled.log.end(), kSpills);
  ASSERT_NE(found, std::sregex_iterator()) << "no resource report: " << compiled.log;
  for (; found != std::sregex_iterator(); ++found) {  // one a kernel
    EXPECT_EQ((*found)[1], "0") << compiled.log;
    EXPECT_EQ((*found)[2], "0") << compiled.log;
  }
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Fused golden(const std::string& name) {
  return parse_fused(text_of(test::source_dir() / "tests/golden" / (name + ".spec.json")));
}

class ForTarget : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, ForTarget, testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ForTarget, GoldenSpecsCompileWithoutSpills) {
  for (const auto& entry : fs::directory_iterator(test::source_dir() / "tests/golden")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".spec.json")) continue;
    SCOPED_TRACE(name);
    Fused op = golden(name.substr(0, name.size() - 10));
    // Clusters and splits of products are pinned for warpgroups alone.
    const bool is_product = op.formula.find('@') != std::string::npos;
    if (is_product && std::string_view(GetParam()) != "sm_90a") op.tuning = {};
    const compile::Compiled compiled = compile_op(op, GetParam());
    EXPECT_TRUE(
        compiled.cubin.starts_with("\x7f"
                                   "ELF"));
    expect_no_spills(compiled);
  }
}

TEST_P(ForTarget, CatalogueCompilesWithoutSpills) {
  const fs::path folder = test::source_dir() / "examples/catalogue";
  int compiled_ones = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    expect_no_spills(compile_op(parse_fused(text_of(entry.path())), GetParam()));
    ++compiled_ones;
  }
  EXPECT_GE(compiled_ones, 30);
}

/// The light plans are those of CompileEffort::tiered.
TEST_P(ForTarget, LightPlansOfTheCatalogueCompileWithoutSpills) {
  const fs::path folder = test::source_dir() / "examples/catalogue";
  int light_ones = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    const Fused op = parse_fused(text_of(entry.path()));
    const formula::Analysis analysis = formula::analyze(op);
    const plan::Plan full = plan::make_plan(op, analysis, parse_target(GetParam()));
    const auto light = plan::make_light_plan(op, analysis, full);
    const bool tiles = std::holds_alternative<plan::Tile>(full.family) ||
                       std::holds_alternative<plan::Sheared>(full.family) ||
                       std::holds_alternative<plan::Box>(full.family);
    EXPECT_EQ(light.has_value(), tiles || plan::rows_of(full) != nullptr);
    if (!light) continue;
    expect_no_spills(compile_plan(*light, GetParam()));
    ++light_ones;
  }
  EXPECT_GE(light_ones, 20);
}

TEST_P(ForTarget, TilesAreAccessedSixteenBytesAtATime) {
  static const std::regex kAccess("(?:ld|st)\\.(?:global|shared)[^ \t]*");
  static const std::regex kWide(".*\\.(?:v4\\.[ubfs]32|v2\\.[ubfs]64)");
  for (const DType dtype : {u8, f16, f32, f64}) {
    SCOPED_TRACE(to_string(dtype));
    const Fused op = test::make_op(
        dtype, {{"x", "(4096,4096):(1,4096)"}, {"y", "(4096,4096):(4096,1)"}}, "y = x");
    const std::string ptx = compile_op(op, GetParam()).ptx;
    int accesses = 0;
    for (std::sregex_iterator it(ptx.begin(), ptx.end(), kAccess), end; it != end; ++it) {
      EXPECT_TRUE(std::regex_match(it->str(), kWide)) << it->str();
      ++accesses;
    }
    EXPECT_GE(accesses, 4);
  }
}

TEST_P(ForTarget, ContiguousAccessesAreSixteenBytesWide) {
  static const std::regex kAccess("(?:ld|st)\\.global[^ \t]*");
  static const std::regex kWide(".*\\.(?:v4\\.[ubfs]32|v2\\.[ubfs]64)");
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(to_string(dtype));
    const Fused op = test::make_op(dtype, {{"x", "(4096):(1)"}, {"y", "(4096):(1)"}}, "y = x");
    const std::string ptx = compile_op(op, GetParam()).ptx;
    int accesses = 0;
    for (std::sregex_iterator it(ptx.begin(), ptx.end(), kAccess), end; it != end; ++it) {
      EXPECT_TRUE(std::regex_match(it->str(), kWide)) << it->str();
      ++accesses;
    }
    EXPECT_GE(accesses, 2);
  }
}

// Every accumulator starts from the identity. (The compilers of CUDA 13.0 leave zeros in all but
// the first row of a local array of arrays.)
TEST(Scans, OfProductsStartFromOne) {
  for (const char* shape : {"(1000,4096):(4096,1)", "(4096,1000):(1000,1)"}) {
    for (const int axis : {0, 1}) {
      Fused op = test::make_op(f32, {{"x", shape}, {"y", shape}}, "y = cumprod(x)");
      op.axis = {axis};
      const std::string ptx = compile_op(op, "sm_90a").ptx;
      EXPECT_EQ(ptx.find(", 0f00000000;\n"), std::string::npos) << "axis " << axis << "\n" << ptx;
    }
  }
}

TEST(Scans, OfEveryDtypeCompileWithoutSpills) {
  static const std::regex kAccess("(?:ld|st)\\.global[^ \t]*");
  static const std::regex kWide(".*\\.(?:v4\\.[ubfs]32|v2\\.[ubfs]64)");
  for (const DType dtype : kAllDTypes) {
    for (const char* formula : {"y = cumsum(x)", "y = cumsum(x, axis=0, reverse=true)"}) {
      SCOPED_TRACE(std::string(to_string(dtype)) + " " + formula);
      const Fused op =
          test::make_op(dtype, {{"x", "(8192,4096):(4096,1)"}, {"y", "(8192,4096):(4096,1)"}},
                        dtype == b8 ? "y = cummax(x) > 0" : formula);
      const compile::Compiled compiled = compile_op(op, "sm_90a");
      expect_no_spills(compiled);
      const bool narrow = formula != std::string("y = cumsum(x)") && size_bytes(dtype) == 1;
      if (narrow) continue;  // fewer columns per thread, to leave room for their sums
      int accesses = 0;
      for (std::sregex_iterator it(compiled.ptx.begin(), compiled.ptx.end(), kAccess), end;
           it != end; ++it) {
        EXPECT_TRUE(std::regex_match(it->str(), kWide)) << it->str();
        ++accesses;
      }
      EXPECT_GE(accesses, 2);
    }
  }
}

/// One formula that holds every function and operator on floating values.
const char* const kFloatFormula =
    "t = where(x > y and not (x <= 0.5 or y >= 2.0), x / y, x // y) + x % y - x ** y * -x\n"
    "t2 = min(x, y) + max(x, y) + abs(x) + exp(x) + exp2(x) + log(x) + log2(x) + sqrt(x) + "
    "rsqrt(x)\n"
    "t3 = sin(x) + cos(x) + tan(x) + tanh(x) + erf(x) + pow(x, y) + floor(x) + ceil(x) + round(x)\n"
    "t4 = sigmoid(x) + silu(x) + gelu(x) + gelu_tanh(x) + relu(x) + clamp(x, -1.0, 1.0)\n"
    "t5 = asin(x) + acos(x) + atan(x) + atan2(x, y) + sinh(x) + cosh(x) + log10(x) + log1p(x)\n"
    "t6 = expm1(x) + cbrt(x) + hypot(x, y) + erfc(x) + copysign(x, y) + fma(x, y, x) + trunc(x)\n"
    "t7 = where(isnan(x) or isinf(y), t5, t6) + sign(x)\n"
    "z = where(x != y, t + t2, where(x == y or x < 1.0, t3, t4)) + t4 * t7";
const char* const kIntegerFormula =
    "t = x + y - x * y + x // y + x % y + (x & y) + (x | y) + (x ^ y) + ~x + (x << 3) + (x >> y)\n"
    "z = where(x < y, t, min(x, y) + max(x, y) + abs(x) + x ** 3 + clamp(x, 1, 7) + relu(x) "
    "+ sign(x) + fma(x, y, x) + trunc(x))";

TEST_P(ForTarget, EveryFunctionOfEveryDtype) {
  for (const DType dtype : kAllDTypes) {
    if (dtype == b8) continue;
    SCOPED_TRACE(to_string(dtype));
    const Fused op =
        test::make_op(dtype, {{"x", "(1000):(1)"}, {"y", "(1000):(1)"}, {"z", "(1000):(1)"}},
                      is_floating(dtype) ? kFloatFormula : kIntegerFormula);
    EXPECT_FALSE(compile_op(op, GetParam()).cubin.empty());
  }
}

TEST_P(ForTarget, EveryCast) {
  std::string formula;
  Fused op = test::make_op(f32, {}, "");
  for (const DType from :
       kAllDTypes) {  // in through every dtype, out to every dtype, through each other
    const std::string name(to_string(from));
    op.tensors.push_back({.name = "in_" + name, .dtype = from, .layout = "(64):(1)"});
    op.tensors.push_back({.name = "out_" + name, .dtype = from, .layout = "(64):(1)"});
    std::string sum;
    for (const DType to : kAllDTypes) {
      const std::string cast =
          "cast(cast(in_" + std::string(to_string(to)) + ", " + name + "), f64)";
      sum += (sum.empty() ? "" : " + ") + cast;
    }
    formula += "out_" + name + " = " + sum + "\n";
  }
  op.formula = formula;
  EXPECT_FALSE(compile_op(op, GetParam()).cubin.empty());
}

TEST(Tuning, CandidatesCompile) {
  Fused op = test::make_op(f16, {{"x", "(512,4096):(4096,1)"}, {"y", "(512,4096):(4096,1)"}},
                           "e = exp(x - max(x))\ny = e / sum(e)");
  const Fused sum =
      test::make_op(f32, {{"x", "(8,100000):(100000,1)"}, {"y", "(8):(1)"}}, "y = sum(x)");
  for (Fused tuned : {op, sum, golden("add_transposed"), golden("sum_columns")}) {
    for (const Tuning& tuning : tuning_candidates(tuned, parse_target("sm_90a"), 8)) {
      tuned.tuning = tuning;
      SCOPED_TRACE(to_json(tuned));
      EXPECT_FALSE(compile_op(tuned, "sm_90a").cubin.empty());
    }
  }
}

TEST(Targets, UnknownToTheCompilerListsThoseItKnows) {
  try {
    const Fused op = golden("add_contiguous");
    const Target none{.major = 7, .minor = 7, .feature = 0};
    (void)compile_plan(plan::make_plan(op, formula::analyze(op), none), "sm_77");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("sm_90"), std::string::npos) << error.what();
  }
}

TEST(CompileTime, GrowsNoFasterThanTheFormula) {
  // Inlining it for every element of a thread took minutes.
  for (const char* function : {"tan", "gelu"}) {
    std::string formula = "y = x";
    for (int i = 0; i < 400; ++i) {
      formula += std::string(" + ") + function + "(x * " + std::to_string(i) + ".5)";
    }
    const Fused op = test::make_op(f32, {{"x", "(8):(1)"}, {"y", "(8):(1)"}}, formula);
    EXPECT_LT(compile_op(op, "sm_90a").milliseconds, 10'000) << function;
  }
}

double compile_milliseconds(const operation::Source& source) {
  compile::Request request;
  request.source = {source.name, source.text, source.headers};
  request.target = "sm_90a";
  return test::nvrtc().compile(request).milliseconds;
}

TEST(CompileTime, VectorAddCostsAtMostHalfMoreThanAnEmptyKernel) {
  const Fused op = golden("add_contiguous");
  const operation::Source add =
      render::render(plan::make_plan(op, formula::analyze(op), parse_target("sm_90a")));
  operation::Source empty;
  empty.name = "empty.cu";
  empty.text = "extern \"C\" __global__ void k() {}";
  // Ratios of neighbours in time, since the speed of shared machines changes within seconds.
  std::vector<double> ratios;
  double median = 0;
  for (int i = 0; i < 100 && (i < 20 || median > 1.5); ++i) {
    const double of_empty = compile_milliseconds(empty);
    ratios.push_back(compile_milliseconds(add) / of_empty);
    std::ranges::sort(ratios);
    median = ratios[ratios.size() / 2];
  }
  EXPECT_LE(median, 1.5);
}

}  // namespace
}  // namespace tilejit
