// Formulas as programs. tests/cli/test_programs.py translates the catalogue and runs what comes
// out.
#include <gtest/gtest.h>

#include "fake/expect_error.hpp"
#include "program/host_program.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::program {
namespace {

struct Translated {
  const char* name;
  Fused op;
  const char* text;
};
const Translated kTranslated[] = {
    {"element by element, in place",
     {.name = "k",
      .tensors = {{.name = "x", .dtype = f16, .layout = "(N):(1)", .access = Access::inout},
                  {.name = "b", .dtype = f32, .layout = "(1):(0)"}},
      .scalars = {{"s", f32}},
      .functions = {{"twice", {"a"}, "a + a"}},
      .formula = "x = twice(x) * s + b"},
     R"(Kernel k
Tensor x : f16 [N] inout
Tensor b : f32 [1]
Scalar s : f32
Constant T = 1024
Function twice(a) = a + a
Grid (ceil_div(N, T))
Verify x = twice(x) * s + b

Copy x (T) in coordinate [block_idx.x] from global to register pad zero
Copy b (1) in coordinate [0] from global to register pad zero
Compute x = cast(twice(x) * s + b, f16)
Copy x (T) in coordinate [block_idx.x] from register to global
)"},
    {"coordinates",
     {.name = "k",
      .tensors = {{"x", f32, "(M,8):(8,1)"}, {"T", f32, "(M,8):(8,1)"}},
      .formula = "T = where(iota(0) > iota(-1), x, extent(0))"},
     R"(Kernel k
Tensor x : f32 [M, 8]
Tensor T : f32 [M, 8] out
Constant TM = 4, TN = 8
Grid (ceil_div(8, TN) * ceil_div(M, TM))
Verify T = where(iota(0) > iota(-1), x, extent(0))

Let i0 = block_idx.x // ceil_div(8, TN)
Let i1 = block_idx.x % ceil_div(8, TN)
Allocate zero in register (TM, TN) : i64 = 0
Copy x (TM, TN) in coordinate [i0, i1] from global to register pad zero
Allocate T in register (TM, TN) : f32
Compute T = where((zero + i0 * TM + iota(0)) > (zero + i1 * TN + iota(1)), x, cast(M, i64))
Copy T (TM, TN) in coordinate [i0, i1] from register to global
)"},
    {"rows of any length, with names that are taken",
     {.name = "k",
      .symbols = {{.name = "T", .example = 3000}},
      .tensors = {{"zero", f32, "(M,T):(T,1)"}, {"y", f32, "(M):(1)"}},
      .formula = "y = max(zero) ; "},
     R"(Kernel k
Symbol T example 3000
Tensor zero : f32 [M, T]
Tensor y : f32 [M] out
Constant T_ = 4096
Grid (M)
Block (256)
Verify y = max(zero)

Assert T <= T_, "a row is one tile; raise T_"
Allocate zero_ in register (1, T_) : i64 = 0
Copy zero (1, T_) in coordinate [block_idx.x, 0] from global to register pad zero
Allocate y in global (M, 1) with offset 0 stride (1, 1)
Allocate y in register (1, 1) : f32
Compute y = max(where(zero_ + iota(1) < T, zero, -inf), axis=1)
Copy y (1, 1) in coordinate [block_idx.x, 0] from register to global
)"},
};

TEST(FromFormula, WritesProgramsThatReadBack) {
  for (const Translated& c : kTranslated) {
    SCOPED_TRACE(c.name);
    const TileProgram program = to_program(c.op);
    EXPECT_EQ(to_tl(program), c.text);
    EXPECT_EQ(parse_program(to_tl(program)), program);
    EXPECT_EQ(parse_program(to_json(program)), program);
  }
}

TEST(FromFormula, SaysWhatItDoesNotTranslate) {
  const auto refused = [](const char* message, const char* formula, std::vector<int> axis = {}) {
    SCOPED_TRACE(formula);
    expect_error(ErrorCode::unsupported, message, [&] {
      (void)to_program({.tensors = {{"x", f32, "(4,8):(8,1)"}, {"y", f32, "(4,8):(8,1)"}},
                        .formula = formula,
                        .axis = axis});
    });
  };
  refused("it has a scan, cumsum; write the program", "y = cumsum(x)");
  refused("it reduces along other axes than the last", "y = x - sum(x, axis=0)");
  refused("it reduces along other axes than the last", "y = x - sum(x, axis=(0, 1))");
  refused("its reductions take other axes than the last", "y = x - sum(x)", {0});
}

}  // namespace
}  // namespace tilejit::program
