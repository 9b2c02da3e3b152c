// Plans and generated headers, byte for byte. TILEJIT_UPDATE_GOLDEN=1 rewrites them; review the
// diff. The headers lie in kernels_templates/samples, where plain nvcc and editors find them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/json_line.hpp"
#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/source_dir.hpp"
#include "tilejit/fused.hpp"

namespace tilejit {
namespace {

namespace fs = std::filesystem;

const fs::path kSpecs = test::source_dir() / "tests/golden";
const fs::path kSamples = test::source_dir() / "kernels_templates/samples";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void compare(const fs::path& path, const std::string& got) {
  if (std::getenv("TILEJIT_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << got;
  }
  EXPECT_EQ(got, read(path)) << path;
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kSpecs)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".spec.json")) names.push_back(name.substr(0, name.size() - 10));
  }
  return names;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, PlanAndHeader) {
  const Fused op = parse_fused(read(kSpecs / (GetParam() + ".spec.json")));
  const plan::Plan plan =
      plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
  compare(kSpecs / (GetParam() + ".plan.json"), core::indented(to_json(plan)) + "\n");
  const std::span<const plan::Plan> parts = plan::parts_of(plan);
  if (parts.size() > 1) return;  // each of its kernels has a header
  compare(kSamples / GetParam() / "plan.cuh",
          render::render_header(parts.empty() ? plan : parts.front()));
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param; });

std::vector<std::string> light_cases() {
  return {"softmax_rows", "sum_columns", "statistics_symbolic", "scan_rows", "add_transposed"};
}

class LightGolden : public testing::TestWithParam<std::string> {};

TEST_P(LightGolden, PlanAndHeader) {
  const Fused op = parse_fused(read(kSpecs / (GetParam() + ".spec.json")));
  const formula::Analysis analysis = formula::analyze(op);
  const auto light = plan::make_light_plan(
      op, analysis, plan::make_plan(op, analysis, {.major = 9, .minor = 0, .feature = 'a'}));
  ASSERT_TRUE(light);
  compare(kSpecs / "light" / (GetParam() + ".plan.json"), core::indented(to_json(*light)) + "\n");
  compare(kSpecs / "light" / (GetParam() + ".plan.cuh"), render::render_header(*light));
}

INSTANTIATE_TEST_SUITE_P(Cases, LightGolden, testing::ValuesIn(light_cases()),
                         [](const auto& info) { return info.param; });

TEST(Render, SamplesHaveSpecs) {
  for (const auto& entry : fs::directory_iterator(kSamples)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(fs::exists(kSpecs / (name + ".spec.json"))) << name << " is left over";
  }
}

TEST(Render, FlatSourceHasNoIncludes) {
  const Fused op = parse_fused(read(kSpecs / "add_contiguous.spec.json"));
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), {});
  const std::string flat = operation::flatten(render::render(plan));
  EXPECT_EQ(flat.find("#include"), std::string::npos);
  EXPECT_NE(flat.find(plan.kernel_name), std::string::npos);
  EXPECT_EQ(flat, operation::flatten(render::render(plan)));
}

/// The header of a scan along rows that are held in registers.
std::string header_of(const std::string& formula) {
  const std::string layout = "(3,1000):(1000,1)";
  const Fused op{.tensors = {{"x", f32, layout}, {"y", f32, layout}}, .formula = formula};
  return render::render_header(
      plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
}

/// 2101/67 of the sweep: 1.30 us if what follows the division is loaded behind its branch, 1.19.
TEST(Render, MapsLoadBeforeTheyDivide) {
  const auto loads_first = [](const std::string& layout, const char* formula) {
    const Fused op{.tensors = {{"x", f32, layout}, {"w", f32, layout}, {"y", f32, layout}},
                   .formula = formula};
    const std::string header = render::render_header(
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
    return header.find("#define LOADS_FIRST") != std::string::npos;
  };
  EXPECT_TRUE(loads_first("111:1", "y = 3 / x + w"));
  EXPECT_FALSE(loads_first("111:1", "y = 3 * x + w"));
  EXPECT_FALSE(loads_first("N:1", "y = 3 / x + w")) << "extents would be read again";
}

/// A warp has several runs of 197 elements, but only a part of a run of 4099.
TEST(Render, RowsOfShortRunsHaveNoBranchesAroundTheirEnds) {
  const auto computes_always = [](const char* run, const char* layout) {
    Fused op{
        .tensors = {{"x", f16, layout}, {"w", f16, std::string(run) + ":1"}, {"y", f16, "33:1"}},
        .formula = "y = var(max(x, w))",
        .axis = {0, 2}};
    op.tensors[2].layout = "(1,33,1):(33,1,1)";
    const std::string header = render::render_header(
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
    return header.find("kComputesAlways = true") != std::string::npos;
  };
  EXPECT_TRUE(computes_always("197", "(2618,33,197):(6501,197,1)"));
  EXPECT_FALSE(computes_always("4099", "(2618,33,4099):(135267,4099,1)"));
}

/// 5 vectors of 8 elements, and a root of each, are more than 64 registers hold.
TEST(Render, LargeBlocksAskForVectorsIfPassesWouldHoldTheirValues) {
  const auto asks = [](const char* formula, int threads, int vectors) {
    const std::string layout = "(300,17000):(17000,1)";
    const Fused op{
        .tensors = {{"x", f16, layout}, {"y", f16, layout}},
        .formula = formula,
        .axis = {1},
        .tuning = {
            .threads = threads, .vector = 8, .row_threads = threads, .register_vectors = vectors}};
    const std::string header = render::render_header(
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
    return header.find("#define ASKS_IN_PASSES 1") != std::string::npos;
  };
  EXPECT_TRUE(asks("v = sqrt(abs(x) + 0.5); y = v / sum(v)", 512, 5));
  EXPECT_FALSE(asks("v = sqrt(abs(x) + 0.5); y = v / sum(v)", 256, 9)) << "small blocks";
  EXPECT_FALSE(asks("y = x / sum(x)", 512, 5)) << "nothing is computed";
}

/// 2805/125 of the sweep: values of an input that each pass loads again are not held, so that
/// nothing has to keep the compiler from it.
TEST(Render, LargeBlocksOfColumnsDoNotAskForVectorsWhoseValuesNeedLoadsOfEachPass) {
  const auto asks = [](const char* formula) {
    const std::string layout = "(59,2667147):(2667147,1)";
    const Fused op{
        .tensors = {{"x", bf16, layout}, {"w", bf16, "(59,1):(1,1)"}, {"y", bf16, layout}},
        .formula = formula,
        .axis = {0}};
    const auto plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    EXPECT_EQ(plan.threads, 512);
    return render::render_header(plan).find("#define ASKS_IN_PASSES 1") != std::string::npos;
  };
  EXPECT_FALSE(asks("v = x + w; e = exp(v - max(v)); y = e / sum(e)"));
  EXPECT_TRUE(asks("v = x + 1; e = exp(v - max(v)); y = e / sum(e) + w"));
}

/// 2801/114 of the sweep, 26 f32 of a thread: the offset of each was held, and spilled.
TEST(Render, ClustersThatHoldManyVectorsOfColumnsComputeTheirOffsetsAnew) {
  const auto computes = [](const std::string& rows, const char* formula) {
    const std::string layout = "(" + rows + ",1023):(1023,1)";
    const Fused op{
        .tensors = {{"x", f32, layout}, {"y", f32, layout}}, .formula = formula, .axis = {0}};
    const std::string header = render::render_header(
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
    EXPECT_NE(header.find("#define USES_CLUSTER 1"), std::string::npos);
    return header.find("#define OFFSETS_ANEW 1") != std::string::npos;
  };
  EXPECT_TRUE(computes("6582", "y = (x - mean(x)) * rsqrt(var(x) + 0.00001)"));
  EXPECT_FALSE(computes("2000", "y = (x - mean(x)) * rsqrt(var(x) + 0.00001)"))
      << "registers are enough for all";
}

// 1804/171 of the sweep: each load of a weight waited for the store before it.
TEST(Render, RowsLoadNarrowWeightsOfSeveralVectorsBeforeTheyStoreOne) {
  const auto at_once = [](DType dtype, const std::string& layout, const char* formula) {
    const std::string length = layout.substr(layout.find(',') + 1, layout.find(')') - 1);
    const std::string weight = length.substr(0, length.find(')')) + ":1";
    const Fused op{.tensors = {{"x", dtype, layout}, {"w", dtype, weight}, {"y", f32, layout}},
                   .formula = formula,
                   .axis = {1}};
    const std::string header = render::render_header(
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
    const std::string name = "#define WEIGHTS_AT_ONCE ";
    const std::size_t found = header.find(name);
    EXPECT_EQ(found == std::string::npos, header.find("struct Weights") == std::string::npos);
    return found == std::string::npos ? 1 : std::atoi(header.c_str() + found + name.size());
  };
  constexpr const char* kNorm = "y = x * rsqrt(mean(x * x) + 1e-5) * w";
  EXPECT_EQ(at_once(f16, "(9000,725):(725,1)", kNorm), 12) << "all, a register each";
  EXPECT_EQ(at_once(f32, "(9000,728):(728,1)", kNorm), 1) << "16 bytes";
  EXPECT_EQ(at_once(f32, "(n,600002):(600002,1)", kNorm), 4) << "a batch of a loop, by pairs";
  EXPECT_EQ(at_once(f32, "(n,600000):(600000,1)", kNorm), 1) << "too many registers";
  EXPECT_EQ(at_once(f16, "(20,725):(725,1)", kNorm), 1) << "they come with the row";
  EXPECT_EQ(at_once(f16, "(9000,725):(725,1)", "y = x * rsqrt(mean(x * w) + 1e-5)"), 1)
      << "outputs need none";
  EXPECT_EQ(at_once(f16, "(900000,13):(13,1)", kNorm), 1) << "staged";
}

/// Whether the header of a formula that reduces `rows` rows of `length` elements has the text.
bool has_text(DType dtype, const std::string& rows, const std::string& length, const char* formula,
              const char* text) {
  const Fused op{.tensors = {{"x", dtype, "(" + rows + "," + length + "):(" + length + ",1)"},
                             {"y", f32, "(" + rows + ",1):(1,0)"}},
                 .formula = formula,
                 .axis = {1}};
  const plan::Plan plan =
      plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
  return render::render_header(plan).find(text) != std::string::npos;
}

// 1804/136 of the sweep: behind branches, exponentials were computed once more to be stored.
TEST(Render, OddRowsThatAreStoredHaveNoBranchesIfTheirValuesAreHeavy) {
  const auto computes_always = [](const std::string& length, const char* formula) {
    const std::string layout = "(40000," + length + "):(" + length + ",1)";
    const Fused op{
        .tensors = {{"x", f16, layout}, {"y", f16, layout}}, .formula = formula, .axis = {1}};
    const std::string header = render::render_header(
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
    return header.find("kComputesAlways = true") != std::string::npos;
  };
  constexpr const char* kSoftmax = "e = exp(0.5 * x - max(0.5 * x)); y = e / sum(e)";
  EXPECT_TRUE(computes_always("333", kSoftmax));
  EXPECT_TRUE(computes_always("1333", kSoftmax)) << "two warps, each with an end";
  EXPECT_FALSE(computes_always("2047", kSoftmax)) << "too many values for registers";
  EXPECT_FALSE(computes_always("4097", kSoftmax)) << "most warps have no ends";
  EXPECT_FALSE(computes_always("333", "y = x / sum(abs(x))")) << "light";
}

TEST(Render, OddRowsOfValuesHaveNoBranchesAroundTheirEnds) {
  const auto short_rows = [](DType dtype, const char* formula) {
    return has_text(dtype, "40000", "333", formula, "kComputesAlways = true");
  };
  EXPECT_TRUE(short_rows(f16, "y = log(sum(exp(x - max(x))))"));
  EXPECT_TRUE(short_rows(i8, "y = sum(f32(x))"));
  EXPECT_FALSE(short_rows(f16, "y = sum(f32(x))")) << "nothing is computed";
  // 2401/69 of the sweep: a warp with an end goes through both codes of a vector of 8.
  const auto rows_of_steps = [](DType dtype, const char* length, const char* formula) {
    return has_text(dtype, "40000", length, formula, "kComputesAlways = true");
  };
  EXPECT_TRUE(rows_of_steps(f16, "917", "y = sum(x * x)"));
  EXPECT_FALSE(rows_of_steps(f16, "917", "y = max(x)")) << "nothing is computed";
  EXPECT_FALSE(rows_of_steps(f16, "2049", "y = sum(x * x)")) << "few warps have ends";
  EXPECT_FALSE(rows_of_steps(f32, "917", "y = sum(x * x)")) << "one code";
  // Elements of a thread would wait for each other; vectors of 8 have code without conditions.
  const auto long_rows = [](DType dtype, const char* formula) {
    return has_text(dtype, "468", "64829", formula, "kComputesAlways = true");
  };
  EXPECT_TRUE(long_rows(f32, "y = var(sigmoid(x))"));
  EXPECT_FALSE(long_rows(f32, "y = sum(x * 2)"));
  EXPECT_FALSE(long_rows(bf16, "y = var(sigmoid(f32(x)))"));
}

// 1801/93 of the sweep: the compiler made a loop's number of a vector 64 bits wide, and divided it.
TEST(Render, LoopsOverSeveralModesDivideNumbersOf32Bits) {
  const auto narrows = [](const char* formula, std::optional<int> register_vectors) {
    Fused op{.tensors = {{"x", f16, "(13032,49,9):(441,9,1)"},
                         {"w", f16, "(1,1,9):(0,0,1)"},
                         {"y", f16, "(13032,1,1):(1,0,0)"}},
             .formula = formula,
             .axis = {1, 2},
             .tuning = {.register_vectors = register_vectors}};
    if (register_vectors) op.tuning.row_threads = 32;
    const std::string header = render::render_header(
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
    return header.find("asm(\"\" : \"+r\"(v));") != std::string::npos;
  };
  EXPECT_TRUE(narrows("y = mean(log(1 + exp(x)) * w)", {}));
  EXPECT_FALSE(narrows("y = mean(log(1 + exp(x)) * w)", 14)) << "known numbers are not divided";
}

// 2103/67 of the sweep: runs of 1338 f32, whose loads were found by a division in 64 bits each.
TEST(Render, LoopsOverRunsWithGapsDivideNumbersOf32Bits) {
  const auto narrows = [](const char* x) {
    Fused op{.tensors = {{"x", f32, x}, {"y", f32, "(1,17,1):(0,1,0)"}},
             .formula = "y = min(-x)",
             .axis = {0, 2}};
    const std::string header = render::render_header(
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'}));
    return header.find("asm(\"\" : \"+r\"(v));") != std::string::npos;
  };
  EXPECT_TRUE(narrows("(257,17,1338):(22746,1338,1)"));
  EXPECT_FALSE(narrows("(257,17,1338):(1338,343866,1)")) << "a run each, which are not divided";
}

TEST(Render, ValuesThatPassesShareHaveABoundOfRegisters) {
  const auto bounds = [](const char* formula) {
    return has_text(f32, "20000", "4096", formula, "BLOCKS_AT_ONCE 4");
  };
  EXPECT_TRUE(bounds("y = var(x / (abs(x) + 1))"));
  EXPECT_FALSE(bounds("y = var(x + 1)"));
}

// 1307/160 of the sweep: sines of 513 f16 took 91 us when each pass computed them.
TEST(Render, ValuesThatTheCompilerWouldComputeAgainAreHeld) {
  const auto holds = [](DType dtype, const char* rows, const std::string& length,
                        const char* formula) {
    const std::string layout = "(" + std::string(rows) + "," + length + "):(" + length + ",1)";
    const Fused op{
        .tensors = {{"x", dtype, layout}, {"y", dtype, layout}}, .formula = formula, .axis = {1}};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    return render::render_header(plan).find("HOLDS_VALUES 1") != std::string::npos;
  };
  const char* const kSines = "v = sin(x); y = v / (sqrt(sum(v * v)) + 1)";
  EXPECT_TRUE(holds(f16, "46645", "513", kSines));
  EXPECT_TRUE(holds(f16, "46645", "512", kSines)) << "after a branch, also without conditions";
  EXPECT_TRUE(holds(f16, "100000", "77", kSines)) << "rows that come through shared memory";
  EXPECT_FALSE(holds(f16, "16", "200000", kSines)) << "rows that no thread holds";
  EXPECT_FALSE(holds(f16, "46645", "513", "y = sin(x / (sum(x) + 1))")) << "one pass";
  const char* const kErrors = "v = erf(x); y = v / (sum(v) + 1)";
  EXPECT_TRUE(holds(f16, "46645", "513", kErrors)) << "under conditions";
  EXPECT_FALSE(holds(f16, "46645", "512", kErrors)) << "the compiler knows that it has them";
  EXPECT_FALSE(holds(f16, "46645", "513", "y = (x + 1) / (sum(x + 1) + 1)")) << "little to compute";
}

// Totals and places of a chunk would both compute the roots of 2707/16 of the sweep.
TEST(Render, ValuesOfScannedColumnsAreHeldInThePlaceOfInputs) {
  const auto holds = [](DType dtype, const char* x, const char* formula) {
    const Fused op{.tensors = {{"x", dtype, x}, {"y", dtype, x}}, .formula = formula, .axis = {0}};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    return render::render_header(plan).find("HOLDS_VALUES 1") != std::string::npos;
  };
  const char* const kRoots = "y = cumsum(sqrt(abs(x) + 0.5))";
  EXPECT_TRUE(holds(bf16, "(1460,17533):(17533,1)", kRoots)) << "shifted: four registers for four";
  EXPECT_TRUE(holds(f32, "(1460,17536):(17536,1)", kRoots));
  EXPECT_FALSE(holds(bf16, "(1460,17536):(17536,1)", kRoots)) << "four registers for eight values";
  EXPECT_FALSE(holds(f32, "(1460,17536):(17536,1)", "y = cumsum(abs(x) + 0.5)")) << "little";
  EXPECT_FALSE(holds(f32, "(17536,1460):(1460,1)", "y = cumsum(sqrt(abs(x) + 0.5), axis=1)"));
}

// 6022/229 of the sweep: 263 us with 255 registers, 195 with the 76 that branches leave.
TEST(Render, SinesKeepTheirBranchesWhereThreadsHoldManyElements) {
  const auto has_branches = [](const char* formula, const char* rows = "1023") {
    const std::string x = std::string("(") + rows + ",77768):(77768,1)";
    const Fused op{.tensors = {{"x", f16, x}, {"y", f16, x}}, .formula = formula, .axis = {0}};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    return render::render_header(plan).find("KEEPS_BRANCHES 1") != std::string::npos;
  };
  EXPECT_TRUE(has_branches("y = sin(x) / (sum(sin(x)) + 1)"));
  EXPECT_FALSE(has_branches("y = sin(x)"));
  EXPECT_FALSE(has_branches("y = sin(x) / (sum(sin(x)) + 1)", "3")) << "few of a thread";
}

// 1502/60 of the sweep: log_softmax of 513 bf16 and a bias took 383 us when each pass shifted it.
TEST(Render, ValuesAreHeldIfEachPassWouldShiftTheirWeights) {
  const auto holds = [](const char* length, const char* formula) {
    const std::string row = length, layout = "(46645," + row + "):(" + row + ",1)";
    const Fused op{.tensors = {{"x", bf16, layout}, {"w", bf16, row + ":1"}, {"y", bf16, layout}},
                   .formula = formula,
                   .axis = {1}};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    return render::render_header(plan).find("HOLDS_VALUES 1") != std::string::npos;
  };
  EXPECT_TRUE(holds("513", "v = x + w; e = exp(v - max(v)); y = e / sum(e)"));
  EXPECT_FALSE(holds("512", "v = x + w; e = exp(v - max(v)); y = e / sum(e)")) << "aligned";
  EXPECT_FALSE(holds("513", "y = x * rsqrt(mean(x * x) + 1e-5) * w")) << "only the last pass";
  EXPECT_TRUE(holds("513", "y = cumsum(x * w)")) << "for totals and for places";
  EXPECT_FALSE(holds("512", "y = cumsum(x * w)")) << "aligned";
  EXPECT_FALSE(holds("513", "v = x * w; y = cumsum(v / sum(v))")) << "reductions are passes, too";
}

TEST(Render, PlacesAreFoundByWarpsOfOneRow) {
  const auto by_warps = [](DType dtype, const char* length) {
    return has_text(dtype, "30000", length, "y = f32(argmax(x))", "find_largest(");
  };
  EXPECT_TRUE(by_warps(f32, "1000"));
  EXPECT_TRUE(by_warps(bf16, "4000"));
  EXPECT_FALSE(by_warps(f32, "24")) << "a warp has several rows";
  EXPECT_FALSE(by_warps(i32, "1000"));
}

TEST(Render, ExchangesOfFewThreadsAreUnrolled) {
  EXPECT_TRUE(has_text(f32, "300", "1000", "y = var(x)", "HAS_FEW_THREADS 1"));
  EXPECT_FALSE(has_text(f32, "30000", "1000", "y = var(x)", "HAS_FEW_THREADS"));
  EXPECT_FALSE(has_text(f32, "300", "1000", "y = f32(argmax(x))", "HAS_FEW_THREADS"));
}

TEST(Render, TotalsOfScansHaveNoPassOfTheirOwn) {
  const auto has = [](const std::string& header, const char* text) {
    return header.find(text) != std::string::npos;
  };
  for (const char* formula : {"y = cumsum(x) / sum(x)", "y = cummax(x, exclusive=true) - max(x)",
                              "y = cumprod(x, reverse=true) - sqrt(abs(prod(x)))"}) {
    const std::string header = header_of(formula);
    EXPECT_TRUE(has(header, "using PassList = List<>;")) << formula;
    EXPECT_TRUE(has(header, "#define SCANS_GIVE_RESULTS 1")) << formula;
  }
  for (const char* formula : {"y = cumsum(x / sum(x)) + cumsum(x)", "y = cumsum(x) / sum(x * 2)",
                              "y = cumsum(x) / max(x)", "y = cumsum(x) + max(x - sum(x))"}) {
    const std::string header = header_of(formula);
    EXPECT_FALSE(has(header, "using PassList = List<>;")) << formula;
    EXPECT_TRUE(has(header, "#define SCANS_GIVE_RESULTS 0")) << formula;
  }
}

/// One formula over few and many, short and long rows and columns.
std::vector<Fused> reductions(const std::string& formula) {
  std::vector<Fused> ops;
  for (const char* rows : {"1", "3", "40", "300"}) {
    for (const char* length : {"3000", "100001", "4000000", "30000000"}) {
      const std::string n = rows, m = length;
      const Tensor y = {"y", f32, n + ":1"};
      ops.push_back({.tensors = {{"x", f16, "(" + n + "," + m + "):(" + m + ",1)"}, y},
                     .formula = formula,
                     .axis = {1}});
      ops.push_back({.tensors = {{"x", f16, "(" + m + "," + n + "):(" + n + ",1)"}, y},
                     .formula = formula,
                     .axis = {0}});
    }
  }
  return ops;
}

/// Blocks leave the results of one pass in memory, whatever the plan is.
TEST(Render, RowsThatBlocksSplitHaveOnePass) {
  std::vector<Fused> ops;
  for (const char* formula :
       {"y = sum(x)", "y = argmax(x) + min(x)", "y = var(x)", "y = sum(exp(x - max(x)))",
        "y = log(sum(exp(x - max(x)))) + max(x)", "y = sum(exp(x - max(x))) + sum(x)",
        "y = max(x - mean(x))", "y = sum(abs(x) / max(abs(x)))"}) {
    std::ranges::copy(reductions(formula), std::back_inserter(ops));
  }
  int shared = 0;
  for (const Fused& op : ops) {
    for (const int major : {8, 9}) {
      const plan::Plan plan =
          plan::make_plan(op, formula::analyze(op), {.major = major, .minor = 0, .feature = 'a'});
      const plan::Rows* const rows = plan::rows_of(plan);
      if (rows == nullptr || rows->splits == 1) continue;
      ++shared;
      EXPECT_NE(render::render_header(plan).find("using PassList = List<Pass0>;"),
                std::string::npos)
          << op.formula << " of " << to_string(op.tensors[0].layout);
    }
  }
  EXPECT_GT(shared, 100);
}

TEST(Render, DigestIsSha256) {
  EXPECT_EQ(render::generator_digest().size(), 64u);
}

}  // namespace
}  // namespace tilejit
