// Types that layout::emit_callable writes, used in a kernel as callers would use them.
#include <gtest/gtest.h>

#include "layout/emit.hpp"
#include "templates/nvrtc.hpp"

namespace tilejit {
namespace {

constexpr const char* kTypes = R"(
using i32 = int;
using i64 = long long;
)";

constexpr const char* kKernel = R"(
static_assert(Tile::rank == 2 && Tile::size == 512 && Tile::cosize == 512, "");
static_assert(sizeof(Tile) == 1 && Tile{}(1, 0) == 72 && Tile{}(1, 8) == 64, "");
static_assert(Tile{}(2, 1) == 145 && Tile{}.extent(1) == 64, "");
static_assert(Matrix{3, 5}(2, 4) == 14 && Matrix{3, 5}.extent(0) == 3, "");

// Rows of 64 elements, back to front. Launched with blocks of (64, 8).
extern "C" __global__ void reverse(const float* in, float* out, i64 M, i64 N) {
  __shared__ float tile[Tile::cosize];
  const Matrix matrix{M, N};
  const i32 column = threadIdx.x, row = threadIdx.y;
  const i64 m = i64(blockIdx.x) * 8 + row;
  if (m < matrix.extent(0)) tile[Tile{}(row, column)] = in[matrix(m, column)];
  __syncthreads();
  if (m < matrix.extent(0)) out[matrix(m, column)] = tile[Tile{}(row, 63 - column)];
}
)";

TEST(LayoutTypes, CompileInKernelsAndAreConstant) {
  const std::string text =
      kTypes +
      layout::emit_callable("Tile", parse_composed_layout("Sw<3,3,3> o 0 o (8,64):(64,1)"),
                            layout::IndexBits::b32) +
      layout::emit_callable("Matrix", Layout("(M,N):(N,1)")) + kKernel;
  for (const char* target : {"sm_80", "sm_90a", "sm_120a"}) {
    const compile::Compiled compiled = test::nvrtc().compile(
        {.source = {"reverse.cu", text, {}}, .target = target, .options = {}, .want_ptx = false});
    EXPECT_FALSE(compiled.cubin.empty()) << compiled.log;
  }
}

}  // namespace
}  // namespace tilejit
