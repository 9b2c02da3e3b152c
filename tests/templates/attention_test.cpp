// Attentions are one kernel each on every target from sm_80 on, which NVRTC compiles without
// spilled registers. TILEJIT_TEST_CASES sets how many random ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/attention_case.hpp"
#include "support/source_dir.hpp"
#include "templates/nvrtc.hpp"
#include "tilejit/error.hpp"
#include "tilejit/fused.hpp"

namespace tilejit {
namespace {

constexpr std::string_view kOfWarps = "attention_mma";

/// Compiles the only kernel of `op`, which is of that template. Kernels of warps spill no
/// registers.
void expect_one_kernel(const Fused& op, const std::string& target, std::string_view name) {
  SCOPED_TRACE(target + "\n" + to_json(op));
  try {
    const plan::Plan plan = plan::make_plan(op, formula::analyze(op), parse_target(target));
    ASSERT_EQ(plan::parts_of(plan).size(), 1U);
    EXPECT_EQ(plan::template_name(plan::parts_of(plan)[0]), name);
    const operation::Source source = render::render(plan);
    const compile::Compiled compiled =
        test::nvrtc().compile({.source = {source.name, source.text, source.headers},
                               .target = target,
                               .options = {"--ptxas-options=-v"},
                               .want_ptx = false});
    static const std::regex kSpills("[1-9]\\d* bytes spill");
    if (name == kOfWarps) {
      EXPECT_FALSE(std::regex_search(compiled.log, kSpills)) << compiled.log;
    }
  } catch (const Error& error) {
    ADD_FAILURE() << error.what() << "\n" << error.log();
  }
}

const char* const kTargetsOfWarps[] = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100a", "sm_120a"};

TEST(RandomAttentions, AreOneKernelEach) {
  const char* const asked = std::getenv("TILEJIT_TEST_CASES");
  const std::uint64_t count = asked == nullptr ? 4 : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    test::Random random(seed);
    const test::RandomCase c = test::random_attention(random);
    expect_one_kernel(c.op, "sm_90a", "attention_wgmma");
    expect_one_kernel(c.op, kTargetsOfWarps[seed % std::size(kTargetsOfWarps)], kOfWarps);
  }
}

/// The examples with heads of 128 columns, and as many queries as large tiles need.
TEST(AttentionExamples, AreOneKernelOfWarpsEach) {
  std::size_t number = 0;
  const auto folder = test::source_dir() / "examples/attention";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    std::string spec = std::regex_replace(text.str(), std::regex("\\b(160|100|70)\\b"), "4096");
    spec = std::regex_replace(spec, std::regex("\\b64\\]"), "128]");
    spec = std::regex_replace(spec, std::regex("\\[2,"), "[16,");
    for (const char* const target : kTargetsOfWarps)
      expect_one_kernel(parse_fused(spec), target, kOfWarps);
    ++number;
  }
  EXPECT_GE(number, 12U);
}

}  // namespace
}  // namespace tilejit
