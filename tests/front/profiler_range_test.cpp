#include "front/profiler_range.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tilejit::front {
namespace {

// The tests with one are in tests/profiler/.
TEST(ProfilerRange, HasNoNamesWithoutAProfiler) {
  if (std::getenv("NVTX_INJECTION64_PATH") != nullptr) GTEST_SKIP() << "a profiler is attached";
  EXPECT_EQ(range_name("launch", "kernel"), nullptr);
  const ProfilerRange unnamed(nullptr), named("compile", "kernel");
}

}  // namespace
}  // namespace tilejit::front
