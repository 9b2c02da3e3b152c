// Random operations on the device against the CPU reference. TILEJIT_TEST_CASES sets how many,
// TILEJIT_TEST_SEED the first seed.
#include <cstdlib>

#include "gpu/gpu_fixture.hpp"
#include "support/number_from_env.hpp"

namespace tilejit::test {
namespace {

class RandomSpecs : public Gpu {};

TEST_F(RandomSpecs, AgreeWithTheReference) {
  const std::uint64_t first = number_from_env("TILEJIT_TEST_SEED", 1);
  const std::uint64_t count = number_from_env("TILEJIT_TEST_CASES", 300);
  int failing_seeds = 0, known_parts = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const RandomCase c = random_case(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + to_json(c.op));
    try {
      run_and_verify(c, random);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << error.log();
    }
    const int parts =
        testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    if (parts > known_parts) ++failing_seeds;
    known_parts = parts;
    ASSERT_LT(failing_seeds, 5) << "stopped after five failing seeds";
  }
}

}  // namespace
}  // namespace tilejit::test
