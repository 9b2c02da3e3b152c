#include "measure/peak_kernel.hpp"

#include <fmt/format.h>

#include "atoms/emit_mma.hpp"
#include "atoms/mma_atom.hpp"
#include "atoms/shared_tile.hpp"

namespace tilejit::measure {
namespace {

using atoms::MmaAtom;
using atoms::MmaFamily;

constexpr int kWarp = 32;

/// Random bits become values between 1 and 2, or any byte.
constexpr const char* kRandom = R"(
using namespace tile;
__device__ u32 random_bits(u32 i) {{
  u32 x = (i + 1u) * 2654435761u;
  x = (x ^ (x >> 15)) * 2246822519u;
  x = (x ^ (x >> 13)) * 3266489917u;
  return x ^ (x >> 16);
}}
__device__ u32 random_word(u32 i) {{ return (random_bits(i) & {mask:#x}u) | {one:#x}u; }}
__device__ f64 random_double(u32 i) {{ return 1 + f64(random_bits(i)) / 4294967296.0; }}
)";

/// By warps: registers are operands again and again, and sums are independent of each other.
constexpr const char* kOfWarps = R"(
extern "C" __global__ void __launch_bounds__({threads}, {blocks}) peak({sum}* out) {{
  Mma::A a[2][Mma::kA];
  Mma::B b[4][Mma::kB];
  Mma::C d[8][Mma::kC] = {{}};
  for (int i = 0; i < 2 * Mma::kA; ++i) a[i / Mma::kA][i % Mma::kA] = {random}(threadIdx.x * 64 + i);
  for (int i = 0; i < 4 * Mma::kB; ++i) b[i / Mma::kB][i % Mma::kB] = {random}(threadIdx.x * 64 + 32 + i);
#pragma unroll 2
  for (int turn = 0; turn < {turns}; ++turn) {{
#pragma unroll
    for (int i = 0; i < 8; ++i) Mma::fma(d[i], a[i / 4], b[i % 4], d[i]);
  }}
  {sum} all = 0;
  for (int i = 0; i < 8 * Mma::kC; ++i) all += d[i / Mma::kC][i % Mma::kC];
  out[blockIdx.x * {threads} + threadIdx.x] = all;
}}
)";

/// By two warpgroups: each has its own rows of A, and both have the same columns of B.
constexpr const char* kOfWarpgroups = R"(
extern __shared__ __align__(1024) unsigned char memory[];
extern "C" __global__ void __launch_bounds__({threads}, {blocks}) peak({sum}* out) {{
  for (int i = threadIdx.x; i < {bytes} / 4; i += {threads}) {{
    reinterpret_cast<u32*>(memory)[i] = random_word(i);
  }}
  fence_async_proxy();
  __syncthreads();
  const u32 b = u32(__cvta_generic_to_shared(memory)),
            a = b + TileB::kBytes + threadIdx.x / 128 * TileA::kBytes;
  Mma::C d[Mma::kC] = {{}};
#pragma unroll 1
  for (int turn = 0; turn < {turns}; ++turn) {{
    pin(d);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 16; ++k) {{
      Mma::fma<false>(d, TileA::descriptor(a) + TileA::step(0, k % {steps}),
                      TileB::descriptor(b) + TileB::step(0, k % {steps}));
    }}
    wgmma_commit();
    wgmma_wait<0>();
    pin(d);
  }}
  {sum} all = 0;
  for (int i = 0; i < Mma::kC; ++i) all += d[i];
  out[blockIdx.x * {threads} + threadIdx.x] = all;
}}
)";

/// Without tensor cores: sums are independent of each other, and stay finite.
constexpr const char* kOfThreads = R"(
#include "tile/types.cuh"
extern "C" __global__ void __launch_bounds__({threads}, {blocks}) peak({sum}* out) {{
  {sum} d[{sums}];
  const {sum} a = {sum}(threadIdx.x % 7) / {sum}(8), b = {sum}(threadIdx.x % 5) + {sum}(1);
  for (int i = 0; i < {sums}; ++i) d[i] = {sum}(threadIdx.x + i);
#pragma unroll 4
  for (int turn = 0; turn < {turns}; ++turn) {{
#pragma unroll
    for (int i = 0; i < {sums}; ++i) d[i] = d[i] * a + b;
  }}
  {sum} all = 0;
  for (int i = 0; i < {sums}; ++i) all += d[i];
  out[blockIdx.x * {threads} + threadIdx.x] = all;
}}
)";

struct Bits {
  std::uint32_t mask, one;
};
Bits bits_of(DType type) {
  switch (type) {
    case f16: return {0x83ff83ff, 0x3c003c00};
    case bf16: return {0x807f807f, 0x3f803f80};
    case f8e4m3: return {0x87878787, 0x38383838};
    case f8e5m2: return {0x83838383, 0x3c3c3c3c};
    case tf32: return {0x807fffff, 0x3f800000};
    default: return {0xffffffff, 0};
  }
}

DType sum_type(DType operand) {
  return operand == f64 ? f64 : is_floating(operand) ? f32 : i32;
}
std::string_view sum_of(DType operand) {
  return operand == f64 ? "double" : is_floating(operand) ? "float" : "int";
}

/// The instruction with most products, wgmma first; null without tensor cores.
const MmaAtom* widest(DType a, DType b, const Target& target) {
  const MmaAtom* best = nullptr;
  const auto products = [](const MmaAtom& atom) { return atom.m * atom.n * atom.k; };
  for (const MmaAtom& atom : atoms::mma_atoms()) {
    if (atom.a != a || atom.b != b || atom.c != sum_type(a)) continue;
    if (atom.family == MmaFamily::wgmma && atom.a_source != atoms::ASource::shared) continue;
    if (atoms::support(atom, target) != atoms::Support::native) continue;
    if (best == nullptr || products(atom) > products(*best)) best = &atom;
  }
  return best;
}

std::string random_text(DType type) {
  const Bits bits = bits_of(type);
  return fmt::format(fmt::runtime(kRandom), fmt::arg("mask", bits.mask), fmt::arg("one", bits.one));
}

PeakKernel of_warps(const MmaAtom& atom) {
  constexpr int kTurns = 2048, kSums = 8;
  PeakKernel kernel{.threads = 256, .blocks = atom.a == f64 ? 1 : 2};  // for the registers
  kernel.text = "#include \"tile/mma.cuh\"\n" + emit(atom, "Mma") + random_text(atom.a) +
                fmt::format(fmt::runtime(kOfWarps), fmt::arg("threads", kernel.threads),
                            fmt::arg("blocks", kernel.blocks), fmt::arg("turns", kTurns),
                            fmt::arg("sum", sum_of(atom.a)),
                            fmt::arg("random", atom.a == f64 ? "random_double" : "random_word"));
  kernel.flop = 2.0 * atom.m * atom.n * atom.k * kSums * kTurns * (kernel.threads / kWarp);
  return kernel;
}

PeakKernel of_warpgroups(const MmaAtom& atom) {
  constexpr int kTurns = 512, kTogether = 16, kWarpgroups = 2, kDepthBytes = 128;
  const int bytes = size_bytes(atom.a), depth = kDepthBytes / bytes;
  const auto tile = [&](int rows) {
    return atoms::SharedTile{.element_bytes = bytes, .mn = rows, .k = depth};
  };
  PeakKernel kernel{.threads = 128 * kWarpgroups,
                    .shared_bytes = (atom.n + kWarpgroups * atom.m) * kDepthBytes};
  kernel.text = "#include \"tile/tensor_map.cuh\"\n#include \"tile/wgmma.cuh\"\n" +
                emit(atom, "Mma") + emit(tile(atom.m), "TileA", atom.m, atom.k) +
                emit(tile(atom.n), "TileB", atom.n, atom.k) + random_text(atom.a) +
                fmt::format(fmt::runtime(kOfWarpgroups), fmt::arg("threads", kernel.threads),
                            fmt::arg("blocks", kernel.blocks), fmt::arg("turns", kTurns),
                            fmt::arg("bytes", kernel.shared_bytes),
                            fmt::arg("steps", depth / atom.k), fmt::arg("sum", sum_of(atom.a)));
  kernel.flop = 2.0 * atom.m * atom.n * atom.k * kTogether * kTurns * kWarpgroups;
  return kernel;
}

PeakKernel of_threads(DType type) {
  constexpr int kTurns = 8192, kSums = 32;
  PeakKernel kernel{.threads = 256, .blocks = 4};
  kernel.text = fmt::format(fmt::runtime(kOfThreads), fmt::arg("threads", kernel.threads),
                            fmt::arg("blocks", kernel.blocks), fmt::arg("turns", kTurns),
                            fmt::arg("sums", kSums), fmt::arg("sum", sum_of(type)));
  kernel.flop = 2.0 * kSums * kTurns * kernel.threads;
  return kernel;
}

}  // namespace

PeakKernel peak_kernel(DType a, DType b, const Target& target) {
  const MmaAtom* const atom = widest(a, b, target);
  PeakKernel kernel = atom == nullptr                    ? of_threads(a)
                      : atom->family == MmaFamily::wgmma ? of_warpgroups(*atom)
                                                         : of_warps(*atom);
  kernel.sums = sum_type(a);
  return kernel;
}

CudaKernel peak_operation(const PeakKernel& kernel, std::int64_t blocks) {
  CudaKernel op;
  op.name = "peak";
  op.tensors = {
      {"out", kernel.sums, "(" + std::to_string(blocks * kernel.threads) + ")", Access::out}};
  op.text = kernel.text;
  op.args = CudaArguments::positional;
  op.launch = {.grid = {std::to_string(blocks)},
               .block = {std::to_string(kernel.threads)},
               .shared = std::to_string(kernel.shared_bytes)};
  return op;
}

}  // namespace tilejit::measure
