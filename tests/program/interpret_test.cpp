#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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
    {"iota", "Compute R = X + 10 * iota(0) + 100 * iota(-1)", "(2, 3)",
     {1, 102, 203, 14, 115, 216}},
    {"broadcast of rows", "Compute ReduceMax X axis 1 and get m\nCompute R = X - m", "(2, 3)",
     {-2, -1, 0, -2, -1, 0}},
    {"ReduceSum", "Compute ReduceSum X axis 0 and get R", "(1, 3)", {5, 7, 9}},
    {"ReduceSum, init", "Compute ReduceSum X axis 0 init 1 and get R", "(1, 3)", {6, 8, 10}},
    {"ReduceProd of all", "Compute ReduceProd X and get R", "(1, 1)", {720}},
    {"ReduceMin, keepdims", "Compute ReduceMin X axis 1 keepdims false and get r\n"
                            "Reshape r to (1, 2) as R", "(1, 2)", {1, 4}},
    {"ReduceMean", "Compute ReduceMean X axis 1 and get R", "(2, 1)", {2, 5}},
    {"ReduceArgmax", "Compute ReduceArgmax X axis 1 and get a\nCompute R = cast(a, f32)", "(2, 1)",
     {2, 2}},
    {"ReduceAny", "Compute B = X > 5\nCompute ReduceAny B axis 1 and get a\n"
                  "Compute R = cast(a, f32)", "(2, 1)", {0, 1}},
    {"sum in a formula", "Compute R = X / sum(X, axis=1)", "(2, 3)",
     {1. / 6, 2. / 6, 3. / 6, 4. / 15, 5. / 15, 6. / 15}},
    {"sum of what does not vary", "Compute ReduceSum X axis 1 and get s\n"
                                  "Compute R = sum(s + 0 * X, axis=1)", "(2, 1)", {18, 45}},
    {"ScanSum", "Compute ScanSum X axis 1 and get R", "(2, 3)", {1, 3, 6, 4, 9, 15}},
    {"ScanSum, reverse, exclusive", "Compute ScanSum X axis 1 exclusive reverse and get R",
     "(2, 3)", {5, 3, 0, 11, 6, 0}},
    {"ScanMax", "Compute ScanMax X axis 0 and get R", "(2, 3)", {1, 2, 3, 4, 5, 6}},
    {"permute", "Reshape X permute (1, 0) as R", "(3, 2)", {1, 4, 2, 5, 3, 6}},
    {"shape", "Reshape X to (3, 2) as R", "(3, 2)", {1, 2, 3, 4, 5, 6}},
    {"broadcast", "Reshape X extract (1, 3) at [1, 0] as r\nReshape r broadcast (2, 3) as R",
     "(2, 3)", {4, 5, 6, 4, 5, 6}},
    {"extract an axis", "Reshape X extract [1, _] as r\nReshape r to (1, 3) as R", "(1, 3)",
     {4, 5, 6}},
    {"extract a part", "Reshape X extract (2, 2) at [0, 1] as R", "(2, 2)", {2, 3, 5, 6}},
    {"insert", "Reshape X extract (1, 1) at [1, 2] as r\nReshape X insert r at [0, 1] as R",
     "(2, 3)", {1, 6, 3, 4, 5, 6}},
    {"cat", "Reshape X cat X axis 1 as R", "(2, 6)", {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
    {"cat along the first", "Reshape X cat X axis 0 as R", "(4, 3)",
     {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}},
    {"Let and for", "Allocate R in register (2, 3) : f32 = 0\nLet two = 1 + 1\n"
                    "for i = 1 : 2 * two + 1 step two\nCompute R = R + i * X\nend", "(2, 3)",
     {4, 8, 12, 16, 20, 24}},
    {"while", "Allocate n in register (1, 1) : i32 = 0\nCompute R = X\n"
              "for i = 0 : 3\nif i == 1\nCompute R = R * 10\nelse\nCompute R = R + 1\nend\nend",
     "(2, 3)", {21, 31, 41, 51, 61, 71}},
    {"if that is known", "if 2 > 1\nCompute R = X\nelse\nCompute R = nothing\nend", "(2, 3)",
     {1, 2, 3, 4, 5, 6}},
    {"GEMM", "Allocate R in register (2, 2) : f32\nCompute GEMM X, X.T and get R", "(2, 2)",
     {14, 32, 32, 77}},
    {"GEMM of transposed", "Allocate R in register (3, 3) : f32 = 1\n"
                           "Compute GEMM X.T, X and accumulate R", "(3, 3)",
     {18, 23, 28, 23, 30, 37, 28, 37, 46}},
    {"staging", "Copy X from register to shared\nCopy X from shared to register as R", "(2, 3)",
     {1, 2, 3, 4, 5, 6}},
    {"rounded once to f16", "Allocate h in register (2, 3) : f16\n"
                            "Compute h = X / 3 * 3 + 0.0001\nCompute R = cast(h, f32)", "(2, 3)",
     {1, 2, 3, 4, 5, 6}},
    {"integers wrap", "Compute b = cast(X * 50, i8)\nCompute R = cast(b, f32)", "(2, 3)",
     {50, 100, -106, -56, -6, 44}},
    {"integers of 64 bits", "Compute b = cast(X, i64) * 2305843009213693952 // 2305843009213693952\n"
                            "Compute R = cast(b, f32)", "(2, 3)", {1, 2, 3, -4, -3, -2}},
};

TEST(Interpret, StatementsMakeTheirTiles) {
  for (const StatementCase& c : kStatements) {
    SCOPED_TRACE(c.name);
    HostProgram program("Tensor A : f32 [2, 3]\nTensor Y : f32 [12] out\nFunction twice(x) = x + x\n"
                        "Copy A (2, 3) at [0, 0] from global to register as X\n" +
                        std::string(c.statements) +
                        "\nReshape R to (" + std::to_string(c.want.size()) + ",) as flat\n");
    (void)program;
  }
}

}  // namespace
}  // namespace tilejit::program
