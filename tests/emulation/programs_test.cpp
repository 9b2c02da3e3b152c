// Tile programs: their kernels on the CPU, threads in random order, against the interpreter.
#include "emulation/emulated.hpp"
#include "emulation/emulated_programs.hpp"

#include <cmath>

namespace tilejit::test {
namespace {

struct ExampleCase {
  const char* file;
  SymbolValues symbols;
  std::vector<Number> scalars = {};
};

/// With ragged sizes, and all of them with their own.
TEST(EmulatedPrograms, Examples) {
  const std::vector<ExampleCase> cases = {
      {"vector_add.tl", {{"N", 1023}}},
      {"vector_add.tl", {{"N", 2048}}},
      {"gemm_bias_gelu.tl", {{"M", 130}, {"N", 70}, {"K", 33}}, {0.5}},
      {"gemm_bias_gelu.tl", {{"M", 128}, {"N", 128}, {"K", 200}}, {0.5}},
      {"flash_attention.tl", {{"Z", 1}, {"Hq", 2}, {"Hk", 1}, {"Sq", 50}, {"Sk", 77}}, {0.125}},
      {"flash_attention.tl", {{"Z", 2}, {"Hq", 1}, {"Hk", 1}, {"Sq", 64}, {"Sk", 200}}, {0.125}}};
  EmulatedPrograms programs;
  for (const ExampleCase& c : cases) {
    programs.add(c.file, {program_example(c.file), c.symbols, c.scalars});
  }
  for (const std::string& name : program_examples()) programs.add(name, program_example_case(name));
  ASSERT_TRUE(programs.compile());
  Random random(3);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    // A rounding to f16 may go the other way, as sums differ in their last bits.
    programs.compare(
        i, [&] { return (static_cast<double>(random() % 2049) - 1024) / 1024; },
        std::ldexp(1.0, -9));
  }
}

/// Statements and clauses one by one, with exact results.
TEST(EmulatedPrograms, Statements) {
  const std::vector<const char*> texts = {
      // A row softmax, without its rounding: only what is exact.
      "Kernel k; Tensor A : f32 [M, N]; Tensor B : f32 [M, N] out; Grid (M)\n"
      "Copy A (1, 512) in coordinate [block_idx.x, 0] from global to register pad neg_inf\n"
      "Compute ReduceMax A axis 1 and get m\n"
      "Compute A = A - m\n"
      "Copy A (1, 512) in coordinate [block_idx.x, 0] from register to global as B\n",
      // A thread-value layout.
      "Kernel k; Tensor A : f32 [M, N]; Tensor B : f32 [M, N] out\n"
      "Grid (ceil_div(N, 32), ceil_div(M, 64))\n"
      "Copy A (64, 32) in coordinate [block_idx.y, block_idx.x] from global to register as x pad "
      "zero tv \"(4,32):(32,1)\" \"(16,1):(1,1)\"\n"
      "Compute x = x * 2\n"
      "Copy x (64, 32) in coordinate [block_idx.y, block_idx.x] from register to global as B\n",
      // A transpose through shared memory.
      "Kernel k; Tensor A : f32 [M, N]; Tensor B : f32 [N, M] out\n"
      "Grid (ceil_div(N, 32), ceil_div(M, 32))\n"
      "Copy A (32, 32) in coordinate [block_idx.y, block_idx.x] from global to register pad zero\n"
      "Reshape A permute (1, 0) as T\n"
      "Copy T (32, 32) in coordinate [block_idx.x, block_idx.y] from register to global as B\n",
      // The same by the order of a load.
      "Kernel k; Tensor A : f32 [M, N]; Tensor B : f32 [N, M] out\n"
      "Grid (ceil_div(N, 32), ceil_div(M, 32))\n"
      "Copy A (32, 32) in coordinate [block_idx.x, block_idx.y] from global to register pad zero "
      "order (1, 0)\n"
      "Copy A (32, 32) in coordinate [block_idx.x, block_idx.y] from register to global as B\n",
      // A while loop on a tile of one element, and an old value of an atomic.
      "Kernel k; Tensor A : i32 [M]; Tensor S : i32 [1] inout; Tensor B : i32 [M] out; Grid (M)\n"
      "Allocate n in register (1) : i32 = 5\n"
      "Allocate s in register (1) : i32 = 0\n"
      "while n > 0\n  Compute s = s + n\n  Compute n = n - 1\nend\n"
      "Copy A (1) in coordinate [block_idx.x] from global to register pad zero\n"
      "Compute s = s + A\n"
      "Atomic add s (1) at [0] as S and get old\n"
      "Compute s = where(old == old, s, 0)\n"
      "Copy s (1) in coordinate [block_idx.x] from register to global as B\n",
      // Blocks in another order.
      "Kernel k; Tensor A : i32 [M, N]; Tensor B : i32 [M, N] out\n"
      "Grid (ceil_div(N, 8), ceil_div(M, 8))\nBlock (32, 2)\nLaunch order=\"swizzle:3\"\n"
      "Copy A (8, 8) in coordinate [block_idx.y, block_idx.x] from global to register pad zero\n"
      "Compute A = A * 2 + cast(block_idx.x, i32)\n"
      "Copy A (8, 8) in coordinate [block_idx.y, block_idx.x] from register to global as B\n",
      "Kernel k; Tensor A : i32 [M, N]; Tensor B : i32 [M, N] out\n"
      "Grid (ceil_div(N, 8), ceil_div(M, 8))\nLaunch order=\"column\"\n"
      "Copy A (8, 8) in coordinate [block_idx.y, block_idx.x] from global to shared pad one\n"
      "Copy A (8, 8) in coordinate [block_idx.y, block_idx.x] from shared to global as B\n",
      // A nested layout, and one that a shared tile is pinned to.
      "Kernel k; Tensor A : f32 layout \"((4,M),N):((1,4*N),4)\"; Tensor B : f32 [4*M, N] out\n"
      "Grid (ceil_div(4*M, 16), ceil_div(N, 16))\n"
      "Allocate S in shared (16, 16) : f32 layout \"Sw<2,2,3> o 0 o (16,16):(16,1)\"\n"
      "Copy A (16, 16) in coordinate [block_idx.x, block_idx.y] from global to register pad zero\n"
      "Copy A from register to shared as S\n"
      "Copy S (16, 16) in coordinate [block_idx.x, block_idx.y] from shared to global as B\n",
      // A scatter, and a mask.
      "Kernel k; Tensor A : i32 [M, N]; Tensor B : i32 [M, N] inout; Grid (M)\n"
      "Copy A (1, 64) in coordinate [block_idx.x, 0] from global to register pad zero\n"
      "Copy A (1, 64) in indices [block_idx.x, 63 - iota(1)] from register to global as B mask A > "
      "0\n"};
  EmulatedPrograms programs;
  for (const char* text : texts) programs.add("a statement", {text, {{"M", 45}, {"N", 37}}, {}});
  ASSERT_TRUE(programs.compile());
  Random random(5);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    programs.compare(i, [&] { return small_integer(random, true); });
  }
}

/// Of the block and of single threads, in the blocks' own numbers whatever their order.
TEST(EmulatedPrograms, AssertionsAreNoted) {
  constexpr const char* kText =
      "Kernel k; Tensor A : i32 [M, N]; Tensor B : i32 [M, N] out\n"
      "Grid (ceil_div(N, 8), ceil_div(M, 8), 2)\nLaunch order=\"swizzle:3\"\n"
      "Copy A (8, 8) in coordinate [block_idx.y, block_idx.x] from global to register pad zero\n"
      "Assert N > 30\n"
      "Assert block_idx.x != 4 or block_idx.y != 5 or block_idx.z == 0, \"a message\"\n"
      "if tid > 2\n  Assert tid != 127 or block_idx.x + block_idx.y > 0 or block_idx.z == 1\nend\n"
      "Copy A (8, 8) in coordinate [block_idx.y, block_idx.x] from register to global as B\n";
  EmulatedPrograms programs;
  programs.add("assertions", {kText, {{"M", 45}, {"N", 37}}, {}});
  ASSERT_TRUE(programs.compile());
  const auto word = [](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return std::uint64_t{1} << 63 | x << 32 | y << 16 | z;
  };
  EXPECT_EQ(programs.failures(0, [] { return 1.0; }),
            (std::vector<std::uint64_t>{0, word(4, 5, 1), word(0, 0, 0)}));
}

/// Every type of product, with each operand as it is stored and transposed; by warps, and by fused
/// multiply-adds where extents are no powers of two.
TEST(EmulatedPrograms, Products) {
  struct Types {
    const char *a, *b, *out;
  };
  EmulatedPrograms programs;
  int number = 0;
  for (const Types& types :
       {Types{"f16", "f16", "f32"}, Types{"f16", "f16", "f16"}, Types{"bf16", "bf16", "f32"},
        Types{"tf32", "tf32", "f32"}, Types{"f32", "f32", "f32"}, Types{"f64", "f64", "f64"},
        Types{"i8", "i8", "i32"}, Types{"u8", "i8", "i32"}, Types{"i8", "u8", "i32"}}) {
    for (const bool transposed : {false, true}) {
      const int m = number % 3 == 2 ? 24 : 32;
      const std::string rows = std::to_string(m);
      const std::string a = transposed ? "(64, " + rows + ")" : "(" + rows + ", 64)";
      const std::string b = transposed ? "(32, 64)" : "(64, 32)";
      const auto in_brackets = [](std::string shape) {
        shape.front() = '[';
        shape.back() = ']';
        return shape;
      };
      std::string text = "Kernel k\nTensor A : " + std::string(types.a) + " " + in_brackets(a) +
                         "\nTensor B : " + types.b + " " + in_brackets(b) +
                         "\nTensor C : " + types.out + " [" + rows + ", 32] out\nBlock (" +
                         (number % 2 == 0 ? "64" : "128") + ")\n";
      text += "Allocate acc in register (" + rows + ", 32) : " + types.out + " = 3\n";
      text += "Copy A " + a + " at [0, 0] from global to " +
              (number % 4 < 2 ? "shared" : "register") + "\n";
      text += "Copy B " + b + " at [0, 0] from global to " +
              (number % 3 != 1 ? "shared" : "register") + "\n";
      text += "Compute GEMM A" + std::string(transposed ? ".T" : "") + ", B" +
              (transposed ? ".T" : "") + " and accumulate acc\n";
      text += "Copy acc (" + rows + ", 32) at [0, 0] from register to global as C\n";
      programs.add(std::string(types.a) + " " + types.b, {text, {}, {}});
      ++number;
    }
  }
  ASSERT_TRUE(programs.compile());
  Random random(17);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    programs.compare(i, [&] { return small_integer(random, false); });
  }
}

TEST(EmulatedPrograms, RandomOnesHaveAllStatements) {
  Random random(29);
  std::string all;
  for (int i = 0; i < 300; ++i) all += random_program_case(random).text;
  for (const char* const words :
       {"to shared", "to register", "indices",   "[L =",      " at [",        "order (1, 0)",
        "mask",      "GEMM",        ".T and",    "ReduceSum", "ReduceArgmax", "ScanSum",
        "reverse",   "permute",     "extract",   "insert",    "cat",          "keepdims false",
        "stages",    "if ",         "else",      "Atomic",    "bf16",         "f64",
        "i64",       "i8",          "Block (96)"}) {
    int count = 0;
    for (std::size_t at = all.find(words); at != all.npos; at = all.find(words, at + 1)) ++count;
    EXPECT_GE(count, 5) << words;
  }
}

TEST(EmulatedPrograms, RandomOnesAreExact) {
  Random random(29);
  EmulatedPrograms programs;
  const int count = random_cases(40);
  for (int i = 0; i < count; ++i) {
    programs.add("case " + std::to_string(i), random_program_case(random));
  }
  ASSERT_TRUE(programs.compile());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    programs.compare(i, [&] { return small_integer(random, false); });
  }
}

}  // namespace
}  // namespace tilejit::test
