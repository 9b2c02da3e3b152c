#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "program/host_program.hpp"

namespace tilejit::program {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

/// Statements over X, a tile of f32 (2, 3) that holds 1..6, and what they leave in Y, 12 numbers of
/// f32, of which the rest stays 0. `store` is the shape of the tile R that they make.
struct StatementCase {
  const char* name;
  const char* statements;
  const char* store;
  Values want;
};

const StatementCase kStatements[] = {
    {"Compute", "Compute R = X * 2 + 1", "(2, 3)", {3, 5, 7, 9, 11, 13}},
    {"function", "Compute Multiply X, X and get R", "(2, 3)", {1, 4, 9, 16, 25, 36}},
    {"user function", "Compute twice X and get R", "(2, 3)", {2, 4, 6, 8, 10, 12}},
    {"builtin function", "Compute max X, 4 and get R", "(2, 3)", {4, 4, 4, 4, 5, 6}},
    {"iota",
     "Compute R = X + 10 * iota(0) + 100 * iota(-1)",
     "(2, 3)",
     {1, 102, 203, 14, 115, 216}},
    {"broadcast of rows",
     "Compute ReduceMax X axis 1 and get m\nCompute R = X - m",
     "(2, 3)",
     {-2, -1, 0, -2, -1, 0}},
    {"ReduceSum", "Compute ReduceSum X axis 0 and get R", "(1, 3)", {5, 7, 9}},
    {"ReduceSum, init", "Compute ReduceSum X axis 0 init 1 and get R", "(1, 3)", {6, 8, 10}},
    {"ReduceProd of all", "Compute ReduceProd X and get R", "(1, 1)", {720}},
    {"ReduceMin, keepdims",
     "Compute ReduceMin X axis 1 keepdims false and get r\n"
     "Reshape r to (1, 2) as R",
     "(1, 2)",
     {1, 4}},
    {"ReduceMean", "Compute ReduceMean X axis 1 and get R", "(2, 1)", {2, 5}},
    {"ReduceArgmax",
     "Compute ReduceArgmax X axis 1 and get a\nCompute R = cast(a, f32)",
     "(2, 1)",
     {2, 2}},
    {"ReduceAny",
     "Compute B = X > 5\nCompute ReduceAny B axis 1 and get a\n"
     "Compute R = cast(a, f32)",
     "(2, 1)",
     {0, 1}},
    {"sum in a formula",
     "Compute R = X / sum(X, axis=1)",
     "(2, 3)",
     {1. / 6, 2. / 6, 3. / 6, 4. / 15, 5. / 15, 6. / 15}},
    {"sum of what does not vary",
     "Compute ReduceSum X axis 1 and get s\n"
     "Compute R = sum(s + 0 * X, axis=1)",
     "(2, 1)",
     {18, 45}},
    {"ScanSum", "Compute ScanSum X axis 1 and get R", "(2, 3)", {1, 3, 6, 4, 9, 15}},
    {"ScanSum, reverse, exclusive",
     "Compute ScanSum X axis 1 exclusive reverse and get R",
     "(2, 3)",
     {5, 3, 0, 11, 6, 0}},
    {"ScanMax", "Compute ScanMax X axis 0 and get R", "(2, 3)", {1, 2, 3, 4, 5, 6}},
    {"permute", "Reshape X permute (1, 0) as R", "(3, 2)", {1, 4, 2, 5, 3, 6}},
    {"shape", "Reshape X to (3, 2) as R", "(3, 2)", {1, 2, 3, 4, 5, 6}},
    {"broadcast",
     "Reshape X extract (1, 3) at [1, 0] as r\nReshape r broadcast (2, 3) as R",
     "(2, 3)",
     {4, 5, 6, 4, 5, 6}},
    {"extract an axis",
     "Reshape X extract [1, _] as r\nReshape r to (1, 3) as R",
     "(1, 3)",
     {4, 5, 6}},
    {"extract a part", "Reshape X extract (2, 2) at [0, 1] as R", "(2, 2)", {2, 3, 5, 6}},
    {"insert",
     "Reshape X extract (1, 1) at [1, 2] as r\nReshape X insert r at [0, 1] as R",
     "(2, 3)",
     {1, 6, 3, 4, 5, 6}},
    {"cat", "Reshape X cat X axis 1 as R", "(2, 6)", {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
    {"cat along the first",
     "Reshape X cat X axis 0 as R",
     "(4, 3)",
     {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}},
    {"Let and for",
     "Allocate R in register (2, 3) : f32 = 0\nLet two = 1 + 1\n"
     "for i = 1 : 2 * two + 1 step two\nCompute R = R + i * X\nend",
     "(2, 3)",
     {4, 8, 12, 16, 20, 24}},
    {"for and if",
     "Compute R = X\n"
     "for i = 0 : 3\nif i == 1\nCompute R = R * 10\nelse\nCompute R = R + 1\nend\nend",
     "(2, 3)",
     {21, 31, 41, 51, 61, 71}},
    {"if that is known",
     "if 2 > 1\nCompute R = X\nelse\nCompute R = nothing\nend",
     "(2, 3)",
     {1, 2, 3, 4, 5, 6}},
    {"GEMM",
     "Allocate R in register (2, 2) : f32\nCompute GEMM X, X.T and get R",
     "(2, 2)",
     {14, 32, 32, 77}},
    {"GEMM of transposed",
     "Allocate R in register (3, 3) : f32 = 1\n"
     "Compute GEMM X.T, X and accumulate R",
     "(3, 3)",
     {18, 23, 28, 23, 30, 37, 28, 37, 46}},
    {"staging",
     "Copy X from register to shared\nCopy X from shared to register as R",
     "(2, 3)",
     {1, 2, 3, 4, 5, 6}},
    {"rounded once to f16",
     "Allocate h in register (2, 3) : f16\n"
     "Compute h = X / 3 * 3 + 0.0001\nCompute R = cast(h, f32)",
     "(2, 3)",
     {1, 2, 3, 4, 5, 6}},
    {"integers wrap",
     "Compute b = cast(X * 50, i8)\nCompute R = cast(b, f32)",
     "(2, 3)",
     {50, 100, -106, -56, -6, 44}},
    {"integers of 64 bits",
     "Compute b = cast(X, i64) * 2305843009213693952 // 2305843009213693952\n"
     "Compute R = cast(b, f32)",
     "(2, 3)",
     {1, 2, 3, -4, -3, -2}},
};

TEST(Interpret, StatementsMakeTheirTiles) {
  for (const StatementCase& c : kStatements) {
    SCOPED_TRACE(c.name);
    const std::string shape = c.store;
    HostProgram program("Tensor A : f32 [2, 3]\nTensor Y : f32 [" +
                        shape.substr(1, shape.size() - 2) +
                        "] out\nFunction twice(x) = x + x\n"
                        "Copy A (2, 3) at [0, 0] from global to register as X\n" +
                        std::string(c.statements) + "\nCopy R " + shape +
                        " at [0, 0] from register to global as Y\n");
    program.set("A", {1, 2, 3, 4, 5, 6}).run();
    const Values y = program.get("Y");
    ASSERT_EQ(y.size(), c.want.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_EQ(y[i], static_cast<double>(static_cast<float>(c.want[i]))) << "element " << i;
    }
  }
}

/// Copies between a tensor A of f32 (4, 5), which holds 0..19, and a tile (2, 3) that goes to Y.
struct CopyCase {
  const char* copy;
  Values want;
};

const CopyCase kLoads[] = {
    {"Copy A (2, 3) in coordinate [L = 0] from global to register as X", {0, 1, 2, 5, 6, 7}},
    {"Copy A (2, 3) in coordinate [L = 1] from global to register as X pad zero",
     {3, 4, 0, 8, 9, 0}},
    {"Copy A (2, 3) in coordinate [L = 2] from global to register as X", {10, 11, 12, 15, 16, 17}},
    {"Copy A (2, 3) in coordinate [L = 4] from global to register as X pad one",
     {1, 1, 1, 1, 1, 1}},
    {"Copy A (2, 3) in coordinate [1, 1] from global to register as X pad neg_inf",
     {13, 14, -kInf, 18, 19, -kInf}},
    {"Copy A (2, 3) in coordinate [0 - 1, 0] from global to register as X pad pos_inf",
     {kInf, kInf, kInf, kInf, kInf, kInf}},
    {"Copy A (2, 3) in coordinate [9223372036854775807, 0] from global to register as X pad zero",
     {0, 0, 0, 0, 0, 0}},
    {"Copy A (2, 3) at [1, 2] from global to shared as X", {7, 8, 9, 12, 13, 14}},
    {"Copy A (2, 3) at [0 - 1, 3] from global to shared as X pad zero", {0, 0, 0, 3, 4, 0}},
    {"Copy A (2, 3) at [0, 1] from global to register as X order (1, 0)", {5, 10, 15, 6, 11, 16}},
    {"Copy A (2, 3) at [0, 0] from global to register as X pad zero mask iota(1) < 2",
     {0, 1, 0, 5, 6, 0}},
    {"Copy A (2, 3) in indices [3 - iota(0), 2 * iota(1)] from global to register as X",
     {15, 17, 19, 10, 12, 14}},
    {"Copy A (2, 3) in indices [iota(0) + 3, iota(1) - 1] from global to register as X pad zero",
     {0, 15, 16, 0, 0, 0}},
};

TEST(Interpret, CopiesLoadTheirPart) {
  for (const CopyCase& c : kLoads) {
    SCOPED_TRACE(c.copy);
    HostProgram program("Tensor A : f32 [4, 5]\nTensor Y : f32 [2, 3] out\n" + std::string(c.copy) +
                        "\nCompute R = X\nCopy R (2, 3) at [0, 0] from register to global as Y\n");
    Values a(20);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i);
    EXPECT_EQ(program.set("A", a).run().get("Y"), c.want);
  }
}

TEST(Interpret, PadsWithNaNAndNegativeZero) {
  const auto padded = [](const std::string& pad) {
    HostProgram program(
        "Tensor A : f32 [1]\nTensor Y : f32 [2] out\n"
        "Copy A (2) at [0] from global to register as X pad " +
        pad + "\nCopy X (2) at [0] from register to global as Y\n");
    const Values y = program.set("A", {7}).run().get("Y");
    EXPECT_EQ(y[0], 7);
    return y[1];
  };
  EXPECT_TRUE(std::isnan(padded("nan")));
  EXPECT_EQ(padded("neg_zero"), 0);
  EXPECT_TRUE(std::signbit(padded("neg_zero")));
}

/// A tile (2, 3) of 1..6 to Y, 3 x 4 of f32 that holds 0.
const CopyCase kStores[] = {
    {"Copy X (2, 3) at [0, 0] from register to global as Y", {1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0}},
    {"Copy X (2, 3) in coordinate [1, 1] from register to global as Y",
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
    {"Copy X (2, 3) at [0 - 1, 2] from register to global as Y",
     {0, 0, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"Copy X (2, 3) at [0, 0] from register to global as Y mask X > 3",
     {0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0}},
    {"Copy X (2, 3) in indices [2 * iota(0), 3 - iota(1)] from register to global as Y",
     {0, 3, 2, 1, 0, 0, 0, 0, 0, 6, 5, 4}},
    {"Copy X (2, 3) at [1, 0] from register to global as Y order (1, 0)",
     {0, 1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0}},
    {"Atomic add X (2, 3) at [1, 1] as Y", {0, 0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6}},
    {"Atomic xchg X (2, 3) at [0, 0] as Y and get old\nAtomic add old (2, 3) at [0, 0] as Y",
     {1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0}},
};

TEST(Interpret, CopiesStoreTheirPart) {
  for (const CopyCase& c : kStores) {
    SCOPED_TRACE(c.copy);
    HostProgram program(
        "Tensor A : f32 [2, 3]\nTensor Y : f32 [3, 4] zeroed\n"
        "Copy A (2, 3) at [0, 0] from global to register as X\n" +
        std::string(c.copy) + "\n");
    program.set("Y", Values(12, 77));
    EXPECT_EQ(program.set("A", {1, 2, 3, 4, 5, 6}).run().get("Y"), c.want);
  }
}

TEST(Interpret, ViewsHaveOffsetsAndStrides) {
  HostProgram program(
      "Tensor A : f32 [N]\nTensor Y : f32 [2, 2] out\nGrid (2)\n"
      "Allocate A in global (2, 2) with offset 4 + block_idx.x stride (1, 2)\n"
      "Copy A (1, 2) in coordinate [block_idx.x, 0] from global to register as X\n"
      "Copy X (1, 2) in coordinate [block_idx.x, 0] from register to global as Y\n",
      {{"N", 9}});
  program.set("A", {0, 1, 2, 3, 4, 5, 6, 7, 8}).run();
  EXPECT_EQ(program.get("Y"), (Values{4, 6, 6, 8}));
  HostProgram beyond(
      "Tensor A : f32 [N]\nTensor Y : f32 [4] out\n"
      "Allocate A in global (4) with offset 6\n"
      "Copy A (4) at [0] from global to register as X\n"
      "Copy X (4) at [0] from register to global as Y\n",
      {{"N", 9}});
  EXPECT_EQ(
      beyond.failure(),
      "invalid_argument: program line 4: element 9 lies outside the memory of tensor 'A', which "
      "has 9; check the offset and strides of its Allocate");
}

TEST(Interpret, LayoutsOfTensorsAreFollowed) {
  HostProgram program(
      "Tensor A : f32 layout \"(2,3):(1,2)\"\nTensor Y : f32 layout \"((2,2),3):((1,6),2)\" out\n"
      "Copy A (2, 3) at [0, 0] from global to register as X\n"
      "Copy X (2, 3) at [1, 0] from register to global as Y\n");
  program.set("A", {1, 2, 3, 4, 5, 6}).run();
  // Rows 1 and 2 of 4 lie at 1 and 6.
  EXPECT_EQ(program.get("Y"), (Values{0, 1, 0, 3, 0, 5, 2, 0, 4, 0, 6, 0}));
}

TEST(Interpret, BlocksAddUp) {
  HostProgram program(
      "Tensor A : i32 [N]\nTensor Y : i32 [1] zeroed\nGrid (ceil_div(N, 4))\n"
      "Copy A (4) in coordinate [block_idx.x] from global to register pad zero\n"
      "Compute ReduceSum A axis 0 and get s\nCompute t = cast(s, i32)\n"
      "Atomic add t (1) at [0] as Y\n",
      {{"N", 10}});
  program.set("A", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).set("Y", {99}).run();
  EXPECT_EQ(program.get("Y"), Values{55});
}

TEST(Interpret, WhileReadsATileOfOneElement) {
  HostProgram program(
      "Tensor Y : i32 [1] out\nAllocate n in register (1) : i32 = 27\n"
      "Allocate steps in register (1) : i32 = 0\n"
      "while n != 1\n"
      "  Compute n = where(n % 2 == 0, n // 2, 3 * n + 1)\n"
      "  Compute steps = steps + 1\n"
      "end\n"
      "Copy steps (1) at [0] from register to global as Y\n");
  EXPECT_EQ(program.run().get("Y"), Values{111});
}

TEST(Interpret, PrintsLayoutsOfTensors) {
  HostProgram program(
      "Tensor A : f32 layout \"((2,N),4):((4,8),1)\"\nTensor B : f32 [M, 3]\n"
      "Print \"A {} B {} of {}\", A, B, M\n"
      "Copy B (1, 1) at [0, 0] from global to register\nCopy A (1, 1) at [0, 0] from global to "
      "register as a\nPrint \"{} {}\", B, a\n",
      {{"M", 5}, {"N", 3}});
  program.set("A", std::vector<double>(24, 2.0)).set("B", std::vector<double>(15, 1.0)).run();
  EXPECT_EQ(program.printed(), "A ((2,3),4):((4,8),1) B (5,3):(3,1) of 5\n[[1]] [[2]]\n");
}

TEST(Interpret, PrintsScalarsTilesAndThreads) {
  HostProgram program(
      "Scalar x : f32\nGrid (2)\nBlock (4)\n"
      "Allocate t in register (2, 9) : i32 = 7\n"
      "Print \"block {} of {}\", block_idx.x, grid_dim.x\n"
      "if block_idx.x == 1\n"
      "  Print \"x = {}, t = {}\", x * 2, t\n"
      "  if tid >= 2\n"
      "    Let double = 2 * tid\n"
      "    Print \"thread {} {}\", thread_idx.x, double\n"
      "  end\n"
      "end\n",
      {}, {1.25});
  EXPECT_EQ(program.run().printed(),
            "block 0 of 2\nblock 1 of 2\n"
            "x = 2.5, t = [[7, 7, 7, 7, 7, 7, 7, 7, ...], [7, 7, 7, 7, 7, 7, 7, 7, ...]]\n"
            "thread 2 4\nthread 3 6\n");
}

TEST(Interpret, TracesOneBlock) {
  HostProgram program(
      "Tensor Y : f32 [2] out\nGrid (2)\nLet b = block_idx.x\n"
      "Allocate t in register (1) : f32 = 1\n"
      "Compute t = t / 4\n"
      "Copy t (1) in coordinate [b] from register to global as Y\n");
  std::string traced;
  program.run(
      {.trace = [&](std::string_view text) { traced += std::string(text) + '\n'; }, .traced = 1});
  EXPECT_EQ(traced,
            "line 3: Let b = block_idx.x\n    1\n"
            "line 4: Allocate t in register (1) : f32 = 1\n    t: f32 (1) = [1]\n"
            "line 5: Compute t = t / 4\n    t: f32 (1) = [0.25]\n");
}

TEST(Interpret, AssertionsNameLineAndBlock) {
  HostProgram program(
      "Tensor A : f32 [K] inout\nGrid (3)\n"
      "Assert K % 8 == 0 or block_idx.x < 2, \"K must be a multiple of 8\"\n"
      "Copy A (8) at [0] from global to register as X pad zero\n"
      "Copy X (8) at [0] from register to global as A\n",
      {{"K", 9}});
  EXPECT_EQ(
      program.failure(),
      "invalid_argument: program line 3: the assertion does not hold in block (2, 0, 0): K must "
      "be a multiple of 8");
}

constexpr const char* kEndless =
    "Tensor Y : i32 [1] out\nAllocate n in register (1) : i32 = 0\n"
    "for i = 0 : 1152921504606846976\n  Compute n = n + 1\nend\n"
    "Copy n (1) at [0] from register to global as Y\n";

TEST(Interpret, LoopsOfAnyLengthEndAtTheLimit) {
  HostProgram program(kEndless);
  EXPECT_EQ(
      program.failure({.max_statements = 1000}),
      "unsupported: program line 4: the program ran more than 1000 statements; use smaller sizes, "
      "or raise max_statements");
  EXPECT_EQ(program.failure({.max_operations = 100000}),
            "unsupported: program line 3: the program did more than 100000 operations; use smaller "
            "sizes, or raise max_operations");
}

TEST(Interpret, ACallerInterrupts) {
  HostProgram program(kEndless);
  int asked = 0;
  EXPECT_EQ(program.failure({.interrupted = [&] { return ++asked == 3; }}),
            "cancelled: program line 4: interrupted");
}

TEST(Interpret, TilesOfABlockAreBounded) {
  HostProgram program(kEndless);
  EXPECT_EQ(program.failure({.max_memory = 4}),
            "unsupported: the tiles of a block take 8 bytes, more than the 4 that are allowed; use "
            "smaller tiles, or raise max_memory");
}

TEST(Interpret, EmptyGridsRunNoBlock) {
  HostProgram program(
      "Tensor A : f32 [N]\nTensor Y : f32 [N] out\nGrid (ceil_div(N, 4))\n"
      "Copy A (4) in coordinate [block_idx.x] from global to register\n"
      "Copy A (4) in coordinate [block_idx.x] from register to global as Y\n",
      {{"N", 0}});
  EXPECT_EQ(program.run().get("Y"), Values{});
}

}  // namespace
}  // namespace tilejit::program
