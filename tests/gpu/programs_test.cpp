// Tile programs on the device against the interpreter: the examples, and random ones, whose results
// are exact. TILEJIT_TEST_CASES sets how many, TILEJIT_TEST_SEED the first seed.
#include <cmath>
#include <cstdlib>

#include "gpu/gpu_fixture.hpp"
#include "support/number_from_env.hpp"
#include "support/program_case.hpp"

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
          static_cast<void*>(static_cast<char*>(device.back().data()) + tensor.guard()));
    }
    for (const Number& scalar : c.scalars) args.emplace_back(scalar);
    runtime()->compile(program).launch(nullptr, args, c.symbols);
    for (std::size_t i = 0; i < after.size(); ++i) {
      device[i].copy_to_host(after[i].bytes().data(), after[i].bytes().size());
    }
    expect_interpreted(program, c, before, after, tolerance);
  }
};

/// Values of 16 bits from -1 to 1.
double next_value(Random& random) {
  return (static_cast<double>(random() % 2049) - 1024) / 1024;
}
// A rounding to f16 may go the other way, as sums differ in their last bits.
const double kRounding = std::ldexp(1.0, -9);

TEST_F(Programs, ExamplesWithTheirSizes) {
  Random random(11);
  for (const std::string& name : program_examples()) {
    SCOPED_TRACE(name);
    run_and_compare(
        program_example_case(name), [&] { return next_value(random); }, kRounding);
  }
}

TEST_F(Programs, ExamplesWithRaggedSizes) {
  Random random(3);
  const auto next = [&] { return next_value(random); };
  for (const std::int64_t n : {1, 1023, 1024, 100'001}) {
    run_and_compare({program_example("vector_add.tl"), {{"N", n}}, {}}, next, 0);
  }
  struct Product {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Product{128, 128, 64}, Product{130, 70, 33}, Product{1, 257, 200},
                                Product{256, 384, 512}}) {
    run_and_compare({program_example("gemm_bias_gelu.tl"), {{"M", m}, {"N", n}, {"K", k}}, {0.5}},
                    next, kRounding);
  }
  struct Attention {
    std::int64_t z, hq, hk, sq, sk;
  };
  for (const auto& [z, hq, hk, sq, sk] :
       {Attention{1, 2, 1, 64, 64}, Attention{2, 4, 2, 50, 77}, Attention{1, 2, 2, 1, 130},
        Attention{1, 1, 1, 70, 40}, Attention{1, 2, 1, 200, 300}}) {
    run_and_compare({program_example("flash_attention.tl"),
                     {{"Z", z}, {"Hq", hq}, {"Hk", hk}, {"Sq", sq}, {"Sk", sk}},
                     {0.125}},
                    next, kRounding);
  }
}

/// In streams, graphs and captures; the kernel goes on, and the context stays usable.
TEST_F(Programs, AssertionsThatFailAreReportedByTheNextWait) {
  const TileProgram program = parse_program(
      "Kernel asserting\nTensor A : f32 [N]\nTensor B : f32 [N] out\nGrid (ceil_div(N, 64))\n"
      "Assert N % 64 == 0, \"whole tiles\"\n"
      "Copy A (64) in coordinate [block_idx.x] from global to register pad zero\n"
      "Compute A = A + 1\n"
      "Copy A (64) in coordinate [block_idx.x] from register to global as B\n");
  const Kernel kernel = runtime()->compile(program);
  std::vector<float> values(128, 2.0f);
  Buffer in(*runtime(), 512), out(*runtime(), 512);
  in.copy_from_host(values.data(), 512);
  const auto message = [](const auto& wait) -> std::string {
    try {
      wait();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "nothing";
  };
  const OwnedStream stream(*runtime());
  const auto wait = [&] { stream.synchronize(); };
  constexpr const char* kFails = "program 'asserting' line 5: the assertion does not hold in block";
  kernel.launch(stream, {in, out}, {{"N", 128}});
  EXPECT_EQ(message(wait), "nothing");
  kernel.launch(stream, {in, out}, {{"N", 127}});
  const std::string failure = message(wait);
  EXPECT_NE(failure.find(kFails), std::string::npos) << failure;
  EXPECT_NE(failure.find(": whole tiles"), std::string::npos) << failure;
  EXPECT_EQ(message(wait), "nothing");
  out.copy_to_host(values.data(), 512);
  EXPECT_EQ(values[126], 3.0f);

  GraphBuilder builder(*runtime());
  const Node node = builder.kernel(kernel, {in, out}, {}, {{"N", 100}});
  GraphExec graph = builder.finish().instantiate();
  for (int i = 0; i < 2; ++i) {
    graph.launch(stream);
    EXPECT_NE(message(wait).find(kFails), std::string::npos);
  }
  graph.update(node, {in, out}, {{"N", 64}});
  graph.launch(stream);
  EXPECT_EQ(message(wait), "nothing");

  // Compiled and loaded inside a capture.
  TileProgram renamed = program;
  renamed.name = "captured";
  Capture capture(*runtime(), stream, Capture::Mode::global);
  runtime()->compile(renamed).launch(stream, {in, out}, {{"N", 1}});
  GraphExec captured = capture.end().instantiate();
  captured.launch(stream);
  EXPECT_NE(message(wait).find("program 'captured' line 5"), std::string::npos);
  EXPECT_EQ(message([&] { runtime()->synchronize(); }), "nothing");
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
