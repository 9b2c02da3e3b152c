// Callers' own kernels on the device: the examples against their references, and behaviour that
// only the driver decides.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/source_dir.hpp"
#include "tilejit/cuda_kernel.hpp"

namespace tilejit::test {
namespace {

class CudaKernels : public Gpu {
 protected:
  static Operation example(const std::string& name, const std::string& kernel = {}) {
    const std::filesystem::path path = source_dir() / "examples/cuda" / (name + ".json");
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto ops =
        parse_specs(text, nullptr, {.allow_source = true, .folder = path.parent_path()});
    for (const Operation& op : ops) {
      if (op.name() == kernel) return op;
    }
    return ops.front();
  }

  /// Bytes of a tensor of `elements` elements, with values from -1 to 1 or small integers.
  static std::vector<std::byte> random_bytes(DType dtype, std::int64_t elements,
                                             std::mt19937& random) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(elements * size_bytes(dtype)));
    for (std::int64_t i = 0; i < elements; ++i) {
      const double value = is_floating(dtype) ? std::uniform_real_distribution(-1.0, 1.0)(random)
                                              : static_cast<double>(random() % 256);
      encode(dtype, value, bytes.data() + i * size_bytes(dtype));
    }
    return bytes;
  }

  struct Ran {
    std::vector<std::vector<std::byte>> before, after;
  };
  /// Launches `op` twice over random inputs and poisoned outputs.
  static Ran launch(const Operation& op, const SymbolValues& symbols,
                    const std::vector<Number>& scalars) {
    std::mt19937 random(7);
    const Kernel kernel = runtime()->compile(op);
    std::vector<Buffer> buffers;
    std::vector<Argument> args;
    Ran ran;
    for (const Tensor& tensor : op.tensors()) {
      ran.before.push_back(
          random_bytes(tensor.dtype, cosize(substitute(tensor.layout, symbols)), random));
      buffers.push_back(upload(*runtime(), ran.before.back()));
      args.emplace_back(buffers.back());
    }
    for (const Number& scalar : scalars) args.emplace_back(scalar);
    kernel.launch(nullptr, args, symbols);
    kernel.launch(nullptr, args, symbols);  // zeroed tensors are zeroed again
    for (const Buffer& buffer : buffers) ran.after.push_back(download<std::byte>(buffer));
    return ran;
  }

  static void verify_formula(const Operation& op, const SymbolValues& symbols,
                             const std::vector<Number>& scalars = {}) {
    Ran ran = launch(op, symbols, scalars);
    HostArguments inputs{.tensors = {}, .scalars = scalars, .symbols = symbols};
    std::vector<const void*> actual;
    for (auto& bytes : ran.before) inputs.tensors.push_back(bytes.data());
    for (auto& bytes : ran.after) actual.push_back(bytes.data());
    const Verification result = verify(op, inputs, actual);
    EXPECT_TRUE(result.passed) << op.name() << ": " << result.first_mismatch;
  }
};

TEST_F(CudaKernels, ExamplesAgreeWithTheirFormulas) {
  for (const std::int64_t n : {1, 31, 257, 100'003}) {
    verify_formula(example("dot", "dot_f32"), {{"N", n}}, {Number(0.5)});
    verify_formula(example("dot", "dot_f16"), {{"N", n}}, {Number(-2.0)});
    verify_formula(example("row_sums"), {{"M", n}, {"N", 129}});
  }
  verify_formula(example("convolution"), {});
}

TEST_F(CudaKernels, ExamplesCountWhatIsThere) {
  const Operation histogram = example("histogram");
  for (const std::int64_t n : {1, 1000, 1'000'000}) {
    const Ran ran = launch(histogram, {{"N", n}}, {});
    std::vector<std::uint32_t> want(256), got(256);
    for (const std::byte code : ran.before[0]) ++want[static_cast<std::size_t>(code)];
    std::memcpy(got.data(), ran.after[1].data(), ran.after[1].size());
    EXPECT_EQ(got, want) << n;
    const Ran serial = launch(*expected_results(histogram)->by, {{"N", n}}, {});
    EXPECT_EQ(serial.after[1], ran.after[1]);
  }
}

TEST_F(CudaKernels, TakesArgumentsOneByOne) {
  const SymbolValues symbols = {{"n", 1001}};
  const Ran ran = launch(example("mandelbrot"), symbols, {Number(40)});
  for (std::size_t i = 0; i < 1001; ++i) {
    float re = 0, im = 0, x = 0, y = 0;
    std::memcpy(&re, ran.before[0].data() + 4 * i, 4);
    std::memcpy(&im, ran.before[1].data() + 4 * i, 4);
    int want = 0, got = 0;
    std::memcpy(&got, ran.after[2].data() + 4 * i, 4);
    double edge = 1;  // the smallest distance from the decision
    while (want < 40 && x * x + y * y <= 4) {
      const float next = x * x - y * y + re;
      y = 2 * x * y + im;
      x = next;
      edge = std::min(edge, std::abs(4.0 - (double(x) * x + double(y) * y)));
      ++want;
    }
    if (edge > 1e-2) {
      EXPECT_EQ(got, want) << i;
    }
  }
}

CudaKernel cluster_kernel(bool declared) {
  CudaKernel kernel;
  kernel.name = "ranks";
  kernel.tensors = {{"y", u32, "(N):(1)", Access::out}};
  kernel.launch = {.grid = {"N"}, .block = {"32"}, .cluster = "4", .shared = "4*N"};
  kernel.text = "#include \"plan.cuh\"\nextern \"C\" __global__ void " +
                std::string(declared ? "__cluster_dims__(4) " : "") + R"(
      ranks(const __grid_constant__ Params p) {
    extern __shared__ u32 memory[];
    u32 rank, size;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    memory[threadIdx.x % p.N] = rank + 100 * size;
    __syncthreads();
    if (threadIdx.x == 0) p.y[blockIdx.x] = memory[0];
  })";
  return kernel;
}

TEST_F(CudaKernels, FormsClusters) {
  if (runtime()->device().target.major < 9) GTEST_SKIP() << "clusters need sm_90";
  for (const bool declared : {false, true}) {
    const Ran ran = launch(cluster_kernel(declared), {{"N", 8}}, {});
    std::vector<std::uint32_t> got(8);
    std::memcpy(got.data(), ran.after[0].data(), 32);
    EXPECT_EQ(got, (std::vector<std::uint32_t>{400, 401, 402, 403, 400, 401, 402, 403}));
  }
}

TEST_F(CudaKernels, TakesSharedMemoryUpToTheDevices) {
  CudaKernel kernel = cluster_kernel(false);
  kernel.launch.cluster = "1";
  const Kernel compiled = runtime()->compile(kernel);
  constexpr std::int64_t kMany = 25'000;  // 100 KB: more than a kernel gets by default
  const Buffer y(*runtime(), 4 * kMany);
  compiled.launch(nullptr, {y}, {{"N", kMany}});
  EXPECT_EQ(download<std::uint32_t>(y).back(), 100u);
  EXPECT_THROW(compiled.launch(nullptr, {y}, {{"N", 1'000'000}}), Error);
}

TEST_F(CudaKernels, RunsInGraphs) {
  const Operation dot = example("dot", "dot_f32");
  const Kernel kernel = runtime()->compile(dot);
  const Buffer x = upload(*runtime(), std::vector<float>(1000, 2));
  const Buffer y = upload(*runtime(), std::vector<float>(1000, 3));
  const Buffer d = upload(*runtime(), std::vector<float>{-1});
  GraphBuilder builder(*runtime());
  const Node node = builder.kernel(kernel, {{x, y, d, 1.0}}, {}, {{"N", 1000}});
  GraphExec graph = builder.finish().instantiate();
  const OwnedStream stream(*runtime());
  for (int i = 0; i < 3; ++i) graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(d), std::vector<float>{6000});
  graph.update(node, {{x, y, d, 0.5}}, {{"N", 500}});
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(d), std::vector<float>{1500});
  // Launched into a capture as well, both of its kernels.
  Capture capture(*runtime(), stream);
  kernel.launch(stream, {x, y, d, 2.0}, {{"N", 10}});
  const GraphExec captured = capture.end().instantiate();
  captured.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(d), std::vector<float>{120});
}

TEST_F(CudaKernels, SetsStridedTensorsToZero) {
  CudaKernel kernel;
  kernel.name = "nothing";
  kernel.tensors = {{"y", u16, "((M,2),N):((8,4),8*M)"}, {"done", u32, "1:1", Access::out}};
  kernel.zeroed = {"y"};
  kernel.launch = {.grid = {"1"}, .block = {"1"}};
  kernel.text =
      "#include \"plan.cuh\"\nextern \"C\" __global__ void nothing(const __grid_constant__ Params "
      "p) "
      "{ *p.done = 1; }\n";
  const SymbolValues symbols = {{"M", 33}, {"N", 5}};
  const Layout layout = substitute(kernel.tensors[0].layout, symbols);
  Ran ran = launch(kernel, symbols, {});
  for (std::int64_t i = 0; i < size(layout).value(); ++i) {
    std::memset(ran.before[0].data() + 2 * layout(i), 0, 2);
  }
  EXPECT_EQ(ran.after[0], ran.before[0]);  // every element, and nothing between them
}

TEST_F(CudaKernels, TunesItsConstants) {
  const Operation dot = example("dot", "dot_f32");
  for (const Tuning& tuning : tuning_candidates(dot, runtime()->device().target)) {
    verify_formula(dot.with_tuning(tuning), {{"N", 5000}}, {Number(1.0)});
  }
}

}  // namespace
}  // namespace tilejit::test
