// Random attentions: each is one kernel on sm_90a, and NVRTC compiles it. TILEJIT_TEST_CASES sets
// how many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <variant>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/attention_case.hpp"
#include "templates/nvrtc.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

TEST(RandomAttentions, AreOneKernelEach) {
  const char* const asked = std::getenv("TILEJIT_TEST_CASES");
  const std::uint64_t count = asked == nullptr ? 4 : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    test::Random random(seed);
    const test::RandomCase c = test::random_attention(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + to_json(c.op));
    try {
      const plan::Plan plan = plan::make_plan(c.op, formula::analyze(c.op), parse_target("sm_90a"));
      ASSERT_EQ(plan::parts_of(plan).size(), 1U);
      EXPECT_TRUE(std::holds_alternative<plan::AttentionWgmma>(plan::parts_of(plan)[0].family));
      const operation::Source source = render::render(plan);
      (void)test::nvrtc().compile({.source = {source.name, source.text, source.headers},
                                   .target = "sm_90a",
                                   .options = {},
                                   .want_ptx = false});
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << error.log();
    }
  }
}

}  // namespace
}  // namespace tilejit
