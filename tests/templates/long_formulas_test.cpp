// Formulas of a fifth of the greatest permitted length: NVRTC compiles them in seconds. A chain of
// 1,900 integer operations used to take it 207 s, because it tried each const integer as a constant
// expression.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "compile/nvrtc.hpp"
#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/long_formulas.hpp"

namespace tilejit {
namespace {

constexpr int kOperations = 4'000;
constexpr double kMostSeconds = 3;

/// CPU time of this thread, so that other processes hardly matter.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(LongFormulas, AreCompiledInSeconds) {
  const char* const path = std::getenv("TILEJIT_NVRTC");
  const compile::Nvrtc nvrtc(path == nullptr ? "" : path);
  for (const test::LongFormula& formula : test::long_formulas(kOperations)) {
    SCOPED_TRACE(formula.name);
    const plan::Plan plan =
        plan::make_plan(formula.op, formula::analyze(formula.op), parse_target("sm_90a"));
    const operation::Source source = render::render(plan);
    const double begin = processor_seconds();
    (void)nvrtc.compile({.source = {source.name, source.text, source.headers},
                         .target = "sm_90a",
                         .options = {},
                         .want_ptx = false});
    const double seconds = processor_seconds() - begin;
    EXPECT_LE(seconds, kMostSeconds);
    RecordProperty("seconds", std::to_string(seconds));
  }
}

}  // namespace
}  // namespace tilejit
