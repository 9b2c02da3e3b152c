// What checks say of programs that are no TL text, and the limits of strangers' programs.
#include <gtest/gtest.h>

#include <chrono>

#include "program/example.hpp"
#include "tilejit/program.hpp"
#include "tilejit/program_builder.hpp"
#include "tilejit/tune.hpp"

namespace tilejit::program {
namespace {

std::string refusal(const TileProgram& program) {
  try {
    validate(program);
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "accepted";
}

std::string refusal(std::string_view text) {
  try {
    (void)parse_operation(text);
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "accepted";
}

TEST(Check, BuiltProgramsAreShownAsText) {
  TileProgram program{.tensors = {{.name = "Y", .layout = "(N):(1)"}}};
  program.body =
      TileBuilder().loop("i", 0, 4, [](TileBuilder& inner) { inner.compute("X", "Z + 1"); }).take();
  EXPECT_EQ(refusal(program),
            "invalid_formula: program line 5: unknown name 'Z'\n"
            "      Compute X = Z + 1\n"
            "                  ^ (/body/0/body/0)");
}

struct Case {
  const char* json;
  const char* want;
};

/// Members of {"op": "program", "tensors": {"Y": ...}, ...}.
const Case kJson[] = {
    {R"("body": 1)", "expected a list of statements (/body)"},
    {R"("bodi": [])", "/bodi: unknown field 'bodi'; did you mean 'body'?"},
    {R"("body": [{"op": "move"}])",
     "unknown statement 'move'; there are allocate, copy, gemm, compute, reduce, scan, reshape, "
     "let, "
     "for, while, if, atomic, print, assert, barrier, comment (/body/0/op)"},
    {R"("body": [{"var": "A"}])",
     "the field 'op' is missing; write for instance \"copy\" (/body/0)"},
    {R"("body": [{"op": "let", "var": "a"}])",
     "the field 'expr' is missing; write for instance \"k * 64\" (/body/0)"},
    {R"("body": [{"op": "let", "var": "a", "expr": [1]}])",
     "expected an expression such as \"k * 64\", or a number (/body/0/expr)"},
    {R"("body": [{"op": "let", "var": "a", "expr": "1 +"}])",
     "expression line 1: expected an expression, found the end of the text\n    1 +\n       ^ "
     "(/body/0/expr)"},
    {R"("body": [{"op": "copy", "var": "Y", "from": "globl", "to": "shared"}])",
     "unknown from 'globl'; use global, shared or register (/body/0/from)"},
    {R"("body": [{"op": "copy", "var": "Y", "from": "global"}])",
     "the field 'to' is missing; write for instance \"global\" (/body/0)"},
    {R"("body": [{"op": "for", "var": "i", "range": [1], "body": []}])",
     "a range has a begin, an end and, if it is not 1, a step; found 1 numbers (/body/0/range)"},
    {R"("body": [{"op": "if", "cond": "1 > 0"}])",
     "the field 'then' is missing; write for instance [], a list of statements (/body/0)"},
    {R"("body": [{"op": "reshape", "var": "X"}])",
     "the field 'to' is missing; write for instance [64, 16], or \"permute\", \"broadcast\", "
     "\"extract\", \"insert\" or \"cat\" (/body/0)"},
    {R"("body": [{"op": "gemm", "a": "A", "b": "B", "out": "C", "mode": "add"}])",
     "unknown mode 'add'; use get or accumulate (/body/0/mode)"},
    {R"("body": [], "constants": {"T": [1]})", "a constant is a number (/constants/T)"},
    {R"("text": "Kernel 5")",
     "program line 1: expected the kernel's name, found '5'\n    Kernel 5\n           ^"},
};

TEST(Check, JsonIsRefusedWithPointers) {
  for (const Case& c : kJson) {
    const std::string want = "invalid_";
    const std::string got =
        refusal(R"({"op": "program", "tensors": {"Y": {"dtype": "f32", "shape": ["N"]}}, )" +
                std::string(c.json) + "}");
    EXPECT_NE(got.find(c.want), std::string::npos) << got;
    EXPECT_EQ(got.rfind(want, 0), 0u) << got;
  }
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Check, StrangersTextIsBounded) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NE(refusal("Kernel k\n" + std::string(1 << 20, '#')).find("1048576 are allowed"),
            std::string::npos);
  EXPECT_NE(refusal("Kernel k\n" + repeated("Barrier\n", 10001)).find("at most 10000 statements"),
            std::string::npos);
  EXPECT_NE(refusal("Kernel k\nLet a = " + repeated("(", 100000)).find("65536 are allowed"),
            std::string::npos);
  EXPECT_NE(refusal("Kernel k\nLet a = " + repeated("(", 1000) + "1").find("levels deep"),
            std::string::npos);
  std::string json = R"({"op": "program", "tensors": {}, "body": [)";
  for (int i = 0; i < 10001; ++i) json += std::string(i == 0 ? "" : ",") + R"({"op": "barrier"})";
  EXPECT_NE(refusal(json + "]}").find("at most 10000 statements"), std::string::npos);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(elapsed.count(), 30);  // a quadratic reader takes minutes
}

TEST(Check, TenThousandStatementsAndALoopOf2To60StepsAreFine) {
  const std::string head = "Tensor Y : i32 [1] out\nAllocate n in register (1) : i32 = 0\n";
  const std::string tail = "Copy n (1) at [0] from register to global as Y\n";
  EXPECT_EQ(refusal(head + repeated("Compute n = n + 1\n", 9990) + tail), "accepted");
  EXPECT_EQ(refusal(head + "for i = 0 : 1152921504606846976\nCompute n = n + 1\nend\n" + tail),
            "accepted");
}

TEST(Check, DescriptionsTellConstantsFromScalars) {
  const std::string text = describe(parse_program(example("layernorm.tl")));
  for (const char* const line :
       {"\n  in       gamma f16 (N):(1)\n", "\n  out      Y f16 (M,N):(N,1)\n",
        "\n  scalar   eps f32, given at launch\n", "\n  constant R = 1\n",
        "\n  constant T = 1024\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(Check, AMebibyteOfTextIsFine) {
  const auto start = std::chrono::steady_clock::now();
  const std::string head =
      "Kernel k\nTensor Y : i32 [1] out\nAllocate n in register (1) : i32 = 0\n";
  const std::string tail = "Copy n (1) at [0] from register to global as Y\n";
  const std::string line = "Compute n = n + 1  # " + std::string(120, 'x') + '\n';
  const std::size_t lines = ((1u << 20) - head.size() - tail.size()) / line.size();
  const std::string text = head + repeated(line.c_str(), static_cast<int>(lines)) + tail;
  ASSERT_GT(text.size(), (1u << 20) - 200u);
  EXPECT_EQ(refusal(text), "accepted");
  EXPECT_EQ(to_tl(parse_program(to_tl(parse_program(text)))), to_tl(parse_program(text)));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(elapsed.count(), 30);
}

TEST(Check, SweepsAndTextInJson) {
  const std::string text =
      "Kernel k\nTensor Y : f32 [N] out\nSweep T in (8, 16)\nGrid (ceil_div(N, T))\n"
      "Allocate x in register (T) : f32 = 1\n"
      "Copy x (T) in coordinate [block_idx.x] from register to global as Y\n";
  const std::vector<Operation> ops = parse_specs(text);
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_NE(ops[0].name(), ops[1].name());
  EXPECT_EQ(tile_program(ops[1])->launch.grid.front(), "ceil_div(N, 16)");
  const std::vector<Operation> by_json = parse_specs(to_json(parse_program(text)));
  ASSERT_EQ(by_json.size(), 2u);
  EXPECT_EQ(by_json[0], ops[0]);
  EXPECT_EQ(refusal(text).find("invalid_spec: a sweep stands for several"), 0u) << refusal(text);
}

TEST(Check, TuningChoosesConstants) {
  TileProgram program = parse_program(example("vector_add.tl"));
  program.tuning.constants["T"] = "256";
  EXPECT_EQ(refusal(program), "accepted");
  program.tuning.constants["T"] = "many";
  EXPECT_EQ(refusal(program),
            "invalid_spec: the value 'many' of 'T' is not a number (/tuning/constants)");
  program.tuning.constants = {{"U", "1"}};
  EXPECT_EQ(refusal(program),
            "invalid_spec: tuning chooses a value of 'U', which is no constant of the program "
            "(/tuning/constants)");
}

}  // namespace
}  // namespace tilejit::program
