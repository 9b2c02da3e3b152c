// Random formulas with products: every one has a plan, and NVRTC compiles it. TILEJIT_TEST_CASES
// sets how many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/product_case.hpp"
#include "templates/nvrtc.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

constexpr const char* kProductTargets[] = {"sm_80",  "sm_86",   "sm_89",
                                           "sm_90a", "sm_100a", "sm_120a"};

TEST(RandomProducts, AreCompiledForEveryTarget) {
  const char* const asked = std::getenv("TILEJIT_TEST_CASES");
  const std::uint64_t count = asked == nullptr ? 8 : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    test::Random random(seed);
    const test::RandomCase c = test::random_product(random);
    const char* const target = kProductTargets[seed % std::size(kProductTargets)];
    SCOPED_TRACE("seed " + std::to_string(seed) + " for " + target + "\n" + to_json(c.op));
    try {
      const plan::Plan plan = plan::make_plan(c.op, formula::analyze(c.op), parse_target(target));
      const operation::Source source = render::render(plan);
      (void)test::nvrtc().compile({.source = {source.name, source.text, source.headers},
                                   .target = target,
                                   .options = {},
                                   .want_ptx = false});
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << error.log();
    }
  }
}

}  // namespace
}  // namespace tilejit
