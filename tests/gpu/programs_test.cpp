// Tile programs on the device against the interpreter: the examples, and random ones, whose results
// are exact. TILEJIT_TEST_CASES sets how many, TILEJIT_TEST_SEED the first seed.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gpu/gpu_fixture.hpp"
#include "gpu/number_from_env.hpp"
#include "support/program_case.hpp"
#include "support/source_dir.hpp"

namespace tilejit::test {
namespace {

class Programs : public Gpu {
 protected:
  static void run_and_compare(const ProgramCase& c, const std::function<double()>& next,
                              double tolerance) {
    SCOPED_TRACE(c.text);
    const TileProgram program = parse_program(c.text);
    const std::vector<GuardedTensor> before = tensors_before(program, c, next);
    std::vector<GuardedTensor> after = before;
    std::vector<Buffer> device;
    std::vector<Argument> args;
    for (GuardedTensor& tensor : after) {
      device.emplace_back(*runtime(), tensor.bytes().size());
      device.back().copy_from_host(tensor.bytes().data(), tensor.bytes().size());
      args.emplace_back(
          static_cast<void*>(static_cast<char*>(device.back().data()) + GuardedTensor::kGuard));
    }
    for (const Number& scalar : c.scalars) args.emplace_back(scalar);
    runtime()->compile(program).launch(nullptr, args, c.symbols);
    for (std::size_t i = 0; i < after.size(); ++i) {
      device[i].copy_to_host(after[i].bytes().data(), after[i].bytes().size());
    }
    expect_interpreted(program, c, before, after, tolerance);
  }
};

std::string program_text(const std::string& name) {
  std::ifstream file(source_dir() / "examples" / "programs" / name);
  return {(std::istreambuf_iterator<char>(file)), {}};
}

TEST_F(Programs, ExamplesWithRaggedSizes) {
  Random random(3);
  // Values of 16 bits; a rounding to f16 may go the other way, as sums differ in their last bits.
  const auto next = [&] { return (static_cast<double>(random() % 2049) - 1024) / 1024; };
  const double tolerance = std::ldexp(1.0, -9);
  for (const std::int64_t n : {1, 1023, 1024, 100'001}) {
    run_and_compare({program_text("vector_add.tl"), {{"N", n}}, {}}, next, 0);
  }
  struct Product {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Product{128, 128, 64}, Product{130, 70, 33}, Product{1, 257, 200},
                                Product{256, 384, 512}}) {
    run_and_compare({program_text("gemm_bias_gelu.tl"), {{"M", m}, {"N", n}, {"K", k}}, {0.5}},
                    next, tolerance);
  }
  struct Attention {
    std::int64_t z, hq, hk, sq, sk;
  };
  for (const auto& [z, hq, hk, sq, sk] :
       {Attention{1, 2, 1, 64, 64}, Attention{2, 4, 2, 50, 77}, Attention{1, 2, 2, 1, 130},
        Attention{1, 1, 1, 70, 40}, Attention{1, 2, 1, 200, 300}}) {
    run_and_compare({program_text("flash_attention.tl"),
                     {{"Z", z}, {"Hq", hq}, {"Hk", hk}, {"Sq", sq}, {"Sk", sk}},
                     {0.125}},
                    next, tolerance);
  }
}

TEST_F(Programs, RandomOnesAreExact) {
  const std::uint64_t first = number_from_env("TILEJIT_TEST_SEED", 1);
  const std::uint64_t count = number_from_env("TILEJIT_TEST_CASES", 60);
  int failing = 0, known_parts = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const ProgramCase c = random_program_case(random);
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      run_and_compare(
          c, [&] { return small_integer(random, false); }, 0);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << error.log() << c.text;
    }
    const int parts =
        testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    if (parts > known_parts) ++failing;
    known_parts = parts;
    ASSERT_LT(failing, 5) << "stopped after five failing seeds";
  }
}

}  // namespace
}  // namespace tilejit::test
