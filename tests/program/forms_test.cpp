#include <gtest/gtest.h>

#include <cstdlib>

#include "program/example.hpp"
#include "program/host_program.hpp"
#include "program/random_program.hpp"
#include "tilejit/program.hpp"
#include "tilejit/program_builder.hpp"

namespace tilejit::program {
namespace {

constexpr const char* kExamples[] = {"vector_add", "gemm_bias_gelu", "flash_attention"};

TEST(Forms, ExamplesAreTheSameInTextAndJson) {
  for (const std::string name : kExamples) {
    SCOPED_TRACE(name);
    const TileProgram text = parse_program(example(name + ".tl"));
    EXPECT_EQ(to_tl(text), example(name + ".tl")) << "examples are written in the style of fmt";
    EXPECT_EQ(text, parse_program(example(name + ".json")));
    EXPECT_EQ(to_json(text) + "\n", example(name + ".json"));
  }
}

TEST(Forms, BuilderMakesTheSameProgram) {
  TileProgram program{
      .name = "vector_add",
      .symbols = {{.name = "N", .example = 1023}},
      .tensors = {{.name = "A", .dtype = f16, .layout = "(N):(1)"},
                  {.name = "B", .dtype = f16, .layout = "(N):(1)"},
                  {.name = "C", .dtype = f16, .layout = "(N):(1)", .access = Access::out}},
      .constants = {{"T", 1024}},
      .launch = {.grid = {"ceil_div(N,T)"}},
      .verify = {"C = A+B"}};
  program.notes = {{"Kernel", "C = A + B, a tile of T elements per block."}};
  const TileIndex place = tile_number("block_idx.x");
  program.body = TileBuilder()
                     .view("A", {"N"})
                     .view("B", {"N"})
                     .view("C", {"N"})
                     .load("A", {"T"}, place, TileSpace::registers, TilePad::zero)
                     .load("B", {"T"}, place, TileSpace::registers, TilePad::zero)
                     .call("Add", {"A", "B"}, "C")
                     .store("C", {"T"}, place)
                     .take();
  EXPECT_EQ(program, parse_program(example("vector_add.tl")));
}

/// The mean of a list of tensors, whatever its length, dtypes and layouts.
TileProgram mean_of(const std::vector<Tensor>& list) {
  TileProgram program{.name = "mean",
                      .tensors = list,
                      .constants = {{"T", 64}},
                      .launch = {.grid = {"ceil_div(N, T)"}}};
  program.tensors.push_back(
      {.name = "y", .dtype = f32, .layout = "(N):(1)", .access = Access::out});
  const TileIndex place = tile_number("block_idx.x");
  TileBuilder body;
  body.tile("total", TileSpace::registers, {"T"}, f32, 0);
  for (const Tensor& tensor : list) {
    body.load(tensor.name, {"T"}, place, TileSpace::registers, TilePad::zero);
    body.compute("total", TileExpression("total + cast(" + tensor.name + ", f32)"));
  }
  body.compute("y", TileExpression("total / " + std::to_string(list.size())));
  program.body = body.store("y", {"T"}, place).take();
  return program;
}

TEST(Forms, BuilderTakesAListOfTensors) {
  const std::vector<Tensor> list = {{.name = "a", .dtype = f16, .layout = "(N):(1)"},
                                    {.name = "b", .dtype = i32, .layout = "(N):(2)"},
                                    {.name = "c", .dtype = f32, .layout = "(N):(0)"}};
  for (std::size_t count = 1; count <= list.size(); ++count) {
    HostProgram program(to_tl(mean_of({list.begin(), list.begin() + count})), {{"N", 3}});
    program.set("a", {3, 6, 9});
    if (count > 1) program.set("b", {1, 0, 2, 0, 3});
    if (count > 2) program.set("c", {2});
    program.run();
    const std::vector<std::vector<double>> wanted = {{3, 6, 9}, {2, 4, 6}, {2, 10.0 / 3, 14.0 / 3}};
    const std::vector<double> means = program.get("y");
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(means[i], static_cast<double>(static_cast<float>(wanted[count - 1][i])));
    }
  }
}

TEST(Forms, BuilderNestsLoopsAndBranches) {
  const TileBody body =
      TileBuilder()
          .tile("acc", TileSpace::registers, {8, 8}, f32, 0)
          .loop(
              "k", 0, "n",
              [](TileBuilder& inner) {
                inner.multiply(
                    {.a = "A", .b = "B", .out = "acc", .b_transposed = true, .accumulate = true});
                inner.when(
                    "k > 1", [](TileBuilder& then) { then.let("two", "1 + 1"); },
                    [](TileBuilder& other) { other.compute("acc", "acc * 2"); });
              },
              2)
          .reduce(TileReduce::Kind::max, "acc", 1, "m")
          .add(TileScan{.kind = TileScan::Kind::sum, .name = "acc", .axis = 0, .out = "s"})
          .take();
  TileProgram program;
  program.body = body;
  EXPECT_EQ(to_tl(program),
            "Kernel program\n\n"
            "Allocate acc in register (8, 8) : f32 = 0\n"
            "for k = 0 : n stages 2\n"
            "  Compute GEMM A, B.T and accumulate acc\n"
            "  if k > 1\n"
            "    Let two = 1 + 1\n"
            "  else\n"
            "    Compute acc = acc * 2\n"
            "  end\n"
            "end\n"
            "Compute ReduceMax acc axis 1 and get m\n"
            "Compute ScanSum acc axis 0 and get s\n");
}

/// TILEJIT_TEST_CASES sets how many programs are tried.
int cases() {
  const char* const text = std::getenv("TILEJIT_TEST_CASES");
  return text == nullptr ? 500 : std::atoi(text);
}

TEST(Forms, RandomProgramsSurviveEveryTranslation) {
  for (int seed = 0; seed < cases(); ++seed) {
    const TileProgram program = RandomProgram(static_cast<std::uint64_t>(seed)).make();
    const std::string tl = to_tl(program);
    const std::string json = to_json(program);
    const TileProgram of_tl = parse_program(tl);
    const TileProgram of_json = parse_program(json);
    ASSERT_EQ(to_tl(of_tl), tl) << "seed " << seed;
    ASSERT_TRUE(of_tl == program) << "seed " << seed << '\n' << tl << to_json(of_tl) << json;
    ASSERT_TRUE(of_json == program) << "seed " << seed << '\n' << json << '\n' << to_tl(of_json);
    ASSERT_EQ(to_json(of_tl), json) << "seed " << seed;
  }
}

struct Line {
  const char* text;
  const char* styled;
};

/// The lines of the published prompts that teach the language, and their aliases.
constexpr Line kAttested[] = {
    {"Copy A from global to shared", "Copy A from global to shared"},
    {"Copy A from global memory to register", "Copy A from global to register"},
    {"Copy A (BM, BK) in coordinate [L = i] from global to shared",
     "Copy A (BM, BK) in coordinate [L = i] from global to shared"},
    {"Compute GEMM A, B and get S", "Compute GEMM A, B and get S"},
    {"Compute GEMM A, B and accumulate S", "Compute GEMM A, B and accumulate S"},
    {"Compute GEMM S = Q, K.T", "Compute GEMM Q, K.T and get S"},
    {"Compute Multiply A, x and get new A", "Compute Multiply A, x and get A"},
    {"Compute Multiply A, x and get B", "Compute Multiply A, x and get B"},
    {"Compute Softmax A", "Compute Softmax A and get A"},
    {"for i = 0:N\nend", "for i = 0 : N\nend"},
    {"for i in 0: K :\nend", "for i = 0 : K\nend"},
    {"for i = 0 : (kv_len//BN)\nend", "for i = 0 : (kv_len // BN)\nend"},
    {"Allocate A in global (M, K) with offset batch_offset",
     "Allocate A in global (M, K) with offset batch_offset"},
    {"Allocate C in register (BM, BN)", "Allocate C in register (BM, BN)"},
    {"Reshape G from (MMA_C, MMA_M, MMA_N) to (MMA_A, MMA_M, MMA_N_new)",
     "Reshape G from (MMA_C, MMA_M, MMA_N) to (MMA_A, MMA_M, MMA_N_new)"},
    {"Reshape S from mma_C to mma_A", "Reshape S from (mma_C) to (mma_A)"},
};

TEST(Forms, AttestedLinesParse) {
  for (const Line& line : kAttested) {
    EXPECT_EQ(to_tl(parse_program(line.text)),
              "Kernel program\n\n" + std::string(line.styled) + "\n");
  }
}

TEST(Forms, CommentsStayWhereTheyAre) {
  const std::string text =
      "# before the kernel\n"
      "# in two lines\n"
      "Kernel k  # beside it\n"
      "Symbol M  # rows\n"
      "Symbol N\n"
      "Tensor A : f32 [M, N]\n"
      "Constant T = 8, U = 4  # both\n"
      "\n"
      "# first statement\n"
      "Let a = 1  # one\n"
      "for i = 0 : 4  # a loop\n"
      "  # inside\n"
      "  Let b = a\n"
      "  # at its end\n"
      "end\n"
      "# at the end\n";
  const std::string once = to_tl(parse_program(text));
  EXPECT_EQ(to_tl(parse_program(once)), once);
  EXPECT_EQ(to_tl(parse_program(to_json(parse_program(text)))), once);
  for (const char* kept :
       {"# before the kernel\n# in two lines\nKernel k  # beside it\n",
        "Symbol M  # rows\nSymbol N\n", "U = 4  # both\n",
        "\n# first statement\nLet a = 1  # one\nfor i = 0 : 4  # a loop\n  # inside\n"
        "  Let b = a\n  # at its end\nend\n# at the end\n"}) {
    EXPECT_NE(once.find(kept), std::string::npos) << once;
  }
}

}  // namespace
}  // namespace tilejit::program
