// What surrounds products of tensor cores, on the device: matrix loads and stores, asynchronous
// copies, barriers, tensor maps and pipelines; and two whole products of matrices.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <tuple>

#include "atoms/copy_atom.hpp"
#include "atoms/emit_mma.hpp"
#include "driver/driver.hpp"
#include "gpu/atoms_on_device.hpp"
#include "support/source_dir.hpp"

namespace tilejit::atoms {
namespace {

// Each block does one form of load_matrices. Its registers go out, and store_matrices writes them
// back to another place.
TEST_F(AtomsOnDevice, MatricesGoToRegistersAndBack) {
  const bool stores = target().number() >= 90;
  std::string text = "#include \"tile/ldmatrix.cuh\"\nusing namespace tile;\n";
  text += R"(
template <int kMatrices, bool kTransposed>
__device__ void run(const unsigned char* in, unsigned char* out) {
  __shared__ __align__(128) unsigned char from[512], to[512];
  const u32 lane = threadIdx.x, row = lane % (8 * kMatrices) * 16;
  for (int i = 0; i < 16; ++i) { from[lane * 16 + i] = in[lane * 16 + i]; to[lane * 16 + i] = 0; }
  __syncwarp();
  u32 r[kMatrices];
  load_matrices<kMatrices, kTransposed>(r, u32(__cvta_generic_to_shared(from)) + row);
  for (int i = 0; i < kMatrices; ++i) reinterpret_cast<u32*>(out)[lane * kMatrices + i] = r[i];
#if __CUDA_ARCH__ >= 900
  store_matrices<kMatrices, kTransposed>(u32(__cvta_generic_to_shared(to)) + row, r);
#endif
  __syncwarp();
  for (int i = 0; i < 16; ++i) out[512 + lane * 16 + i] = to[lane * 16 + i];
}
extern "C" __global__ void matrices(const unsigned char* in, unsigned char* out) {
  out += blockIdx.x * 1024;
  if (blockIdx.x == 0) run<1, false>(in, out);
  if (blockIdx.x == 1) run<2, false>(in, out);
  if (blockIdx.x == 2) run<4, false>(in, out);
  if (blockIdx.x == 3) run<1, true>(in, out);
  if (blockIdx.x == 4) run<2, true>(in, out);
  if (blockIdx.x == 5) run<4, true>(in, out);
})";
  CudaKernel kernel = byte_kernel("matrices", text);
  kernel.launch = {.grid = {"6"}, .block = {"32"}};
  Bytes in(512);
  std::mt19937 random(13);
  for (unsigned char& byte : in) byte = static_cast<unsigned char>(random());
  const Bytes out = run(kernel, in, 6 * 1024);
  for (int i = 0; i < 6; ++i) {
    const CopyAtom atom{.count = 1 << i % 3, .transposed = i >= 3};
    SCOPED_TRACE(instruction(atom));
    const Layout tv = layouts(atom).registers;
    const std::size_t bytes = static_cast<std::size_t>(atom.count) * 128;
    const unsigned char* const got = out.data() + 1024 * i;
    Bytes want(bytes);
    for (std::int64_t t = 0; t < 32; ++t) {
      for (std::int64_t byte = 0; byte < 4 * atom.count; ++byte) {
        want[static_cast<std::size_t>(t * 4 * atom.count + byte)] =
            in[static_cast<std::size_t>(tv({t, byte * 8}) / 8)];
      }
    }
    EXPECT_EQ(Bytes(got, got + bytes), want);
    Bytes back(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(bytes));
    if (!stores) back.assign(bytes, 0);
    EXPECT_EQ(Bytes(got + 512, got + 512 + bytes), back);
  }
}

// Thread t copies the first t bytes of its own, and zeros for the rest; t from 0 on.
TEST_F(AtomsOnDevice, CopiesFillWithZeros) {
  CudaKernel kernel = byte_kernel("copies", R"(#include "tile/async_copy.cuh"
using namespace tile;
template <int kBytes>
__device__ void run(const unsigned char* in, unsigned char* out, unsigned char* memory) {
  const u32 lane = threadIdx.x, shared = u32(__cvta_generic_to_shared(memory)) + lane * 16;
  for (int i = 0; i < 16; ++i) memory[lane * 16 + i] = 0xee;
  async_copy_or_zero<kBytes>(shared, in + lane * 16, min(lane, kBytes));
  async_copy_commit();
  async_copy_wait<0>();
  for (int i = 0; i < 16; ++i) out[lane * 16 + i] = memory[lane * 16 + i];
  async_copy<kBytes>(shared, in + lane * 16);
  async_copy_commit();
  async_copy_commit();  // an empty group
  async_copy_wait<1>();
  for (int i = 0; i < 16; ++i) out[512 + lane * 16 + i] = memory[lane * 16 + i];
}
extern "C" __global__ void copies(const unsigned char* in, unsigned char* out) {
  __shared__ __align__(16) unsigned char memory[512];
  out += blockIdx.x * 1024;
  if (blockIdx.x == 0) run<4>(in, out, memory);
  if (blockIdx.x == 1) run<8>(in, out, memory);
  if (blockIdx.x == 2) run<16>(in, out, memory);
})");
  kernel.launch = {.grid = {"3"}, .block = {"32"}};
  Bytes in(512);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i % 200 + 1);
  const Bytes out = run(kernel, in, 3 * 1024);
  for (std::size_t block = 0; block < 3; ++block) {
    const std::size_t bytes = std::size_t{4} << block;
    Bytes want(1024, 0xee);
    for (std::size_t t = 0; t < 32; ++t) {
      for (std::size_t i = 0; i < bytes; ++i) {
        want[t * 16 + i] = i < t ? in[t * 16 + i] : 0;
        want[512 + t * 16 + i] = in[t * 16 + i];
      }
    }
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(1024 * block);
    EXPECT_EQ(Bytes(begin, begin + 1024), want) << bytes << " bytes";
  }
}

// Two halves of a block write in turn, each after the other has arrived. An arrival orders the
// writes before it (PTX ISA, "bar"), but compute-sanitizer's racecheck sees no order and reports
// hazards.
TEST_F(AtomsOnDevice, NamedBarriersHandTheTurnOver) {
  CudaKernel kernel = byte_kernel("turns", R"(#include "tile/named_barrier.cuh"
using namespace tile;
extern "C" __global__ void turns(const unsigned char*, unsigned char* out) {
  __shared__ volatile u32 count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const bool first = threadIdx.x < 64;
  for (int turn = 0; turn < 100; ++turn) {
    if (first) {
      if (turn > 0) named_barrier_sync<2, 128>();
      if (threadIdx.x == 0) count = count * 2 % 65521 + 1;
      named_barrier_arrive<1, 128>();
    } else {
      named_barrier_sync<1, 128>();
      if (threadIdx.x == 64) count = count * 3 % 65521;
      if (turn < 99) named_barrier_arrive<2, 128>();
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *reinterpret_cast<u32*>(out) = count;
})");
  kernel.launch = {.grid = {"1"}, .block = {"128"}};
  unsigned want = 0;
  for (int turn = 0; turn < 100; ++turn) want = (want * 2 % 65521 + 1) * 3 % 65521;
  const Bytes out = run(kernel, Bytes(4), 4);
  unsigned got = 0;
  std::memcpy(&got, out.data(), 4);
  EXPECT_EQ(got, want);
}

/// A tensor map of a row-major matrix, encoded by the driver.
struct MapOf {
  const Buffer& memory;
  DType type;
  std::int64_t rows, columns;
  int box_rows, box_columns;
};
void put_map(const MapOf& of, unsigned char* to) {
  const driver::Table& driver = driver::load_driver();
  CUtensorMap map;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(of.columns),
                                static_cast<cuuint64_t>(of.rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(of.columns * size_bytes(of.type))};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(of.box_columns),
                            static_cast<cuuint32_t>(of.box_rows)};
  const cuuint32_t steps[] = {1, 1};
  ASSERT_NE(driver.cuTensorMapEncodeTiled_, nullptr);
  driver::check(
      driver,
      driver.cuTensorMapEncodeTiled_(
          &map, of.type == f32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
          2, of.memory.data(), extents, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
          of.type == f32 ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
          CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      "cuTensorMapEncodeTiled");
  std::memcpy(to, &map, sizeof map);
}

class TensorMapPipeline : public AtomsOnDevice {
 protected:
  void SetUp() override {
    AtomsOnDevice::SetUp();
    if (runtime() != nullptr && target().number() < 90) {
      GTEST_SKIP() << "no tensor memory accelerator: needs compute capability 9.0";
    }
  }
};

// A producer brings boxes through a ring of three stages, consumers add 1, and what they store goes
// out through another tensor map, which adds it to what is there.
TEST_F(TensorMapPipeline, MovesAMatrixThroughARing) {
  constexpr std::int64_t kRows = 1000, kColumns = 36;  // boxes of 16 x 16: ragged on both sides
  CudaKernel kernel = byte_kernel("ring", R"(#include "tile/barrier.cuh"
#include "tile/named_barrier.cuh"
#include "tile/pipeline.cuh"
#include "tile/roles.cuh"
#include "tile/tensor_map.cuh"
using namespace tile;
constexpr int kStages = 3, kBoxes = 63 * 3;
constexpr u32 kBytes = 16 * 16 * 4;
extern "C" __global__ void ring(const unsigned char* in, unsigned char*) {
  __shared__ __align__(1024) float stages[kStages][16 * 16];
  __shared__ __align__(8) u64 barriers[2 * kStages];
  const TensorMap* const maps = reinterpret_cast<const TensorMap*>(in);
  const Pipeline<kStages> pipeline{shared_address(barriers)};
  const u32 warp = warp_index();
  if (warp == 0 && elect_one()) {
    prefetch_tensor_map(maps[0]);
    pipeline.init(1, 2);
  }
  __syncthreads();
  PipelineState<kStages> at;
  if (warp == 0) {
    if (elect_one()) {
      for (int i = blockIdx.x; i < kBoxes; i += gridDim.x, at.advance()) {
        pipeline.acquire(at);
        pipeline.expect(at, kBytes);
        const Box<2> box = {{i % 3 * 16, i / 3 * 16}};
        prefetch_box(maps[0], box);
        load_box_hinted(shared_address(stages[at.stage]), maps[0], box, pipeline.full(at),
                        evict_first_from_l2());
      }
      pipeline.drain(at);
    }
    return;
  }
  for (int i = blockIdx.x; i < kBoxes; i += gridDim.x, at.advance()) {
    pipeline.wait(at);
    for (int j = threadIdx.x - 32; j < 256; j += 64) stages[at.stage][j] += 1;
    fence_async_proxy();
    named_barrier_sync<1, 64>();
    if (warp == 1 && elect_one()) {
      add_box(maps[1], Box{i % 3 * 16, i / 3 * 16}, shared_address(stages[at.stage]));
      store_box(maps[2], Box{i % 3 * 16, i / 3 * 16}, shared_address(stages[at.stage]));
      store_commit();
      store_wait_read<0>();
      pipeline.release(at);
    }
    if (warp == 2 && elect_one()) pipeline.release(at);
  }
  if (warp == 1) store_wait<0>();
})");
  kernel.launch = {.grid = {"5"}, .block = {"96"}};
  std::vector<float> values(kRows * kColumns);
  std::mt19937 random(14);
  for (float& value : values) value = static_cast<float>(random() % 1000);
  const Buffer from = test::upload(*runtime(), values);
  const Buffer sums = test::upload(*runtime(), std::vector<float>(values.size(), 10));
  const Buffer copies = test::upload(*runtime(), std::vector<float>(values.size(), -1));
  Bytes maps(3 * 128);
  put_map({from, f32, kRows, kColumns, 16, 16}, maps.data());
  put_map({sums, f32, kRows, kColumns, 16, 16}, maps.data() + 128);
  put_map({copies, f32, kRows, kColumns, 16, 16}, maps.data() + 256);
  (void)run(kernel, maps, 1);
  for (float& value : values) value += 1;
  EXPECT_EQ(test::download<float>(copies), values);
  for (float& value : values) value += 10;
  EXPECT_EQ(test::download<float>(sums), values);
}

std::string text_of_file(const char* name) {
  std::ifstream file(test::source_dir() / "tests/atoms" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// D = A * B^T in bf16, row-major, of random matrices.
class MatrixProduct {
 public:
  MatrixProduct(const Runtime& runtime, std::int64_t m, std::int64_t n, std::int64_t k)
      : m_(m),
        n_(n),
        k_(k),
        random_(15),
        a_(HostMatrix::random(bf16, k, m, random_)),  // column-major: rows of K
        b_(HostMatrix::random(bf16, k, n, random_)),
        on_a_(test::upload(runtime, encoded(a_))),
        on_b_(test::upload(runtime, encoded(b_))),
        on_d_(test::upload(runtime, Bytes(static_cast<std::size_t>(2 * m * n), 0xff))) {}

  [[nodiscard]] const Buffer& a() const { return on_a_; }
  [[nodiscard]] const Buffer& b() const { return on_b_; }
  [[nodiscard]] const Buffer& d() const { return on_d_; }
  [[nodiscard]] SymbolValues symbols() const { return {{"M", m_}, {"N", n_}, {"K", k_}}; }

  /// D's elements are the sums, which have the error of `atom`, rounded to bf16.
  void expect(const MmaAtom& atom) const {
    const Bytes d = test::download<unsigned char>(on_d_);
    int wrong = 0;
    for (std::int64_t m = 0; m < m_; ++m) {
      for (std::int64_t n = 0; n < n_; ++n) {
        double want = 0, magnitude = 0;
        for (std::int64_t k = 0; k < k_; ++k) {
          const double term = a_.at(k, m) * b_.at(k, n);
          want += term;
          magnitude += std::abs(term);
        }
        const double got = decode(bf16, d.data() + 2 * (m * n_ + n));
        const double of_sum = bound(atom, k_, magnitude);
        const double most = of_sum + (std::abs(want) + of_sum) * 0x1p-8;  // half a unit of bf16
        const bool is_right = std::abs(got - want) <= most;
        if (!is_right && ++wrong == 1) {
          ADD_FAILURE() << "(" << m << "," << n << "): " << got << " instead of " << want;
        }
      }
    }
    EXPECT_EQ(wrong, 0) << m_ << " x " << n_ << " x " << k_;
  }

 private:
  static Bytes encoded(const HostMatrix& matrix) {
    Bytes bytes(2 * matrix.values.size());
    for (std::size_t i = 0; i < matrix.values.size(); ++i) {
      encode(bf16, matrix.values[i], bytes.data() + 2 * i);
    }
    return bytes;
  }

  std::int64_t m_, n_, k_;
  std::mt19937 random_;
  HostMatrix a_, b_;
  Buffer on_a_, on_b_, on_d_;
};

CudaKernel gemm_kernel(const char* file, const std::string& product) {
  CudaKernel kernel;
  kernel.name = "gemm";
  kernel.text = text_of_file(file);
  kernel.headers = {{"product.cuh", product}};
  kernel.symbols = {{"M"}, {"N"}, {"K"}};
  kernel.tensors = {{"a", bf16, "(M,K):(K,1)"},
                    {"b", bf16, "(N,K):(K,1)"},
                    {"d", bf16, "(M,N):(N,1)", Access::out}};
  kernel.args = CudaArguments::positional;
  return kernel;
}

// The whole of it: tests/atoms/gemm_ampere.cu on ragged sizes.
TEST_F(AtomsOnDevice, WarpsMultiplyMatricesThroughAsynchronousCopies) {
  const MmaAtom atom = parse_mma_atom("mma_m16n8k16_f32_bf16_bf16");
  CudaKernel op = gemm_kernel("gemm_ampere.cu", emit(atom, "Mma"));
  op.launch = {.grid = {"ceil_div(M, 128) * ceil_div(N, 128)"},
               .block = {"256"},
               .shared = std::to_string(3 * 2 * 128 * 64)};
  const Kernel kernel = runtime()->compile(op);
  for (const auto& [m, n, k] : {std::tuple(128, 128, 32), {300, 200, 136}, {1, 129, 1000}}) {
    const MatrixProduct product(*runtime(), m, n, k);
    kernel.launch(nullptr, {product.a(), product.b(), product.d()}, product.symbols());
    product.expect(atom);
  }
}

// The whole of it: tests/atoms/gemm_hopper.cu with and without a cluster, on ragged sizes.
TEST_F(WarpgroupsOnDevice, MultiplyMatricesThroughPipelines) {
  struct Shape {
    std::int64_t m, n, k;
    int columns, cluster, stages;
  };
  for (const Shape& s : {Shape{512, 512, 256, 256, 2, 4}, Shape{300, 200, 136, 128, 1, 3},
                         Shape{200, 328, 72, 128, 2, 4}}) {
    const MmaAtom atom =
        parse_mma_atom("wgmma_m64n" + std::to_string(s.columns) + "k16_f32_bf16_bf16");
    CudaKernel op =
        gemm_kernel("gemm_hopper.cu",
                    emit(atom, "Mma") + emit(SharedTile{.mn = 128, .k = 64}, "TileA", 64, 16) +
                        emit(SharedTile{.mn = s.columns, .k = 64}, "TileB", s.columns, 16) +
                        "constexpr int kStages = " + std::to_string(s.stages) +
                        ", kConsumers = 2, kCluster = " + std::to_string(s.cluster) + ";\n");
    op.tensors.insert(op.tensors.begin(), {"maps", u8, "384:1"});
    const int shared = s.stages * (128 + s.columns) * 128 + 2 * 8192 + 16 * s.stages;
    op.launch = {.grid = {"4"},
                 .block = {"384"},
                 .cluster = std::to_string(s.cluster),
                 .shared = std::to_string(shared)};
    const MatrixProduct product(*runtime(), s.m, s.n, s.k);
    Bytes maps(384);
    put_map({product.a(), bf16, s.m, s.k, 128, 64}, maps.data());
    put_map({product.b(), bf16, s.n, s.k, s.columns / s.cluster, 64}, maps.data() + 128);
    put_map({product.d(), bf16, s.m, s.n, 64, 64}, maps.data() + 256);
    const Buffer on_maps = test::upload(*runtime(), maps);
    runtime()->compile(op).launch(nullptr, {on_maps, product.a(), product.b(), product.d()},
                                  product.symbols());
    product.expect(atom);
  }
}

}  // namespace
}  // namespace tilejit::atoms
