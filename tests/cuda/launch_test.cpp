// Callers' own kernels, compiled and launched: what reaches the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/nvrtc.hpp"
#include "cuda/kernels.hpp"
#include "fake/expect_error.hpp"
#include "fake/fake_driver.hpp"
#include "fake/fake_driver_graphs.hpp"
#include "fake/fake_runtime.hpp"
#include "tilejit/benchmark.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/dispatcher.hpp"
#include "tilejit/graph.hpp"
#include "tilejit/manifest.hpp"

namespace tilejit {
namespace {

using launch::Internals;
using test::scale_kernel;
using test::TestFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Target kHopper{.major = 9, .minor = 0, .feature = 'a'};

class KernelLaunch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!compile::find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  }
  static std::uint64_t u64_at(const std::vector<std::byte>& params, int offset) {
    return field_at<std::uint64_t>(params.data(), offset);
  }
};

const std::vector<Argument> kArgs = {on_device(0x1000000), on_device(0x2000000), 2.5};
const SymbolValues kThousand = {{"N", 1000}};

TEST_F(KernelLaunch, PassesParams) {
  FakeDriver fake;
  fake.param_bytes = 32;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = runtime.compile(scale_kernel());
  EXPECT_EQ(kernel.artifact().kernel_name, "scale");
  kernel.launch(kStream, kArgs, kThousand);
  BoundLaunch bound = kernel.bind(kArgs, kThousand);
  bound.set(2, 4.5);
  bound.launch(kStream);
  ASSERT_EQ(fake.launches.size(), 2u);
  for (const auto& launch : fake.launches) {
    EXPECT_EQ(launch.blocks, 8u);
    EXPECT_EQ(launch.threads, 128u);
    EXPECT_EQ(launch.extents, FakeDriver::Extents{});
    EXPECT_EQ(u64_at(launch.params, 0), 0x1000000u);
    EXPECT_EQ(u64_at(launch.params, 8), 0x2000000u);
    EXPECT_EQ(u64_at(launch.params, 24), 1000u);
  }
  EXPECT_EQ(field_at<float>(fake.launches[0].params.data(), 16), 2.5f);
  EXPECT_EQ(field_at<float>(fake.launches[1].params.data(), 16), 4.5f);
}

TEST_F(KernelLaunch, TakesArgumentsOneByOne) {
  CudaKernel kernel = scale_kernel();
  kernel.args = CudaArguments::positional;
  kernel.symbols = {{"N"}};
  kernel.text = R"(extern "C" __global__ void scale(const float* x, float* y, float factor,
                                                    long long n) {
    const long long i = blockIdx.x * 128ll + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
  })";
  FakeDriver fake;
  fake.param_sizes = {8, 8, 4, 8};
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel compiled = runtime.compile(kernel);
  compiled.launch(kStream, kArgs, kThousand);
  GraphBuilder builder(runtime);
  const Node node = builder.kernel(compiled, kArgs, {}, kThousand);
  GraphExec graph = builder.finish().instantiate();
  graph.update(node, kArgs, {{"N", 2000}});
  ASSERT_EQ(fake.launches.size(), 1u);
  const std::vector<std::byte>& params = fake.launches[0].params;
  ASSERT_EQ(params.size(), 28u);
  EXPECT_EQ(u64_at(params, 8), 0x2000000u);
  EXPECT_EQ(field_at<float>(params.data(), 16), 2.5f);
  EXPECT_EQ(u64_at(params, 20), 1000u);
  ASSERT_EQ(fake.updates.size(), 1u);
  EXPECT_EQ(fake.updates[0].blocks, 16u);
  EXPECT_EQ(u64_at(fake.updates[0].params, 20), 2000u);
}

TEST_F(KernelLaunch, HasThreeDimensions) {
  CudaKernel kernel = scale_kernel();
  kernel.tensors[0].layout = kernel.tensors[1].layout = "(100,200):(200,1)";
  kernel.launch = {.grid = {"ceil_div(100, BLK)", "ceil_div(200, BLK)", "3"},
                   .block = {"BLK", "BLK", "2"},
                   .shared = "BLK*BLK*4"};
  kernel.constants = {{"BLK", Number(16)}};
  kernel.text =
      "#include \"plan.cuh\"\nextern \"C\" __global__ void scale(const "
      "__grid_constant__ Params p) {}\n";
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel compiled = runtime.compile(kernel);
  compiled.launch(kStream, kArgs);
  GraphBuilder builder(runtime);
  (void)builder.kernel(compiled, kArgs);
  const Graph graph = builder.finish();
  const auto& node = *fake.graph_nodes.at(graph.get()).at(0);
  const FakeDriver::Extents want{13, 3, 16, 2};
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].blocks, 7u);
  EXPECT_EQ(fake.launches[0].threads, 16u);
  EXPECT_EQ(fake.launches[0].shared_bytes, 1024u);
  EXPECT_EQ(fake.launches[0].extents, want);
  EXPECT_EQ(node.blocks, 7u);
  EXPECT_EQ(node.extents, want);
}

TEST_F(KernelLaunch, SetsTensorsToZeroFirst) {
  CudaKernel kernel = scale_kernel();
  kernel.zeroed = {"y"};
  kernel.tensors[1].layout = "(N):(2)";
  kernel.tensors[1].access = Access::automatic;
  FakeDriver fake;
  fake.param_bytes = 32;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel compiled = runtime.compile(kernel);
  compiled.launch(kStream, kArgs, kThousand);
  EXPECT_THAT(fake.entries, ElementsAre("scale_zero_y", "scale"));
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_EQ(fake.launches[0].blocks, 4u);  // of 256 threads
  EXPECT_EQ(u64_at(fake.launches[0].params, 0), 0x2000000u);
  EXPECT_EQ(u64_at(fake.launches[0].params, 8), 1000u);
  EXPECT_FALSE(fake.launches[1].overlaps);
  EXPECT_EQ(fake.launches[1].blocks, 8u);
  GraphBuilder builder(runtime);
  (void)builder.kernel(compiled, kArgs, {}, kThousand);
  const Graph graph = builder.finish();
  const auto& nodes = fake.graph_nodes.at(graph.get());
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[1]->after.size(), 1u);
}

TEST_F(KernelLaunch, RefusesWhatNoDeviceLaunches) {
  CudaKernel kernel = scale_kernel();
  kernel.launch.grid = {"N // 128"};
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel compiled = runtime.compile(kernel);
  const auto launch = [&](std::int64_t n) {
    return expect_error(
        ErrorCode::invalid_argument,
        n == 100 ? "'N // 128' is 0; leave out launches" : "'N // 128' is 4294967296", [&] {
          compiled.launch(kStream, kArgs, {{"N", n}});
        });
  };
  EXPECT_EQ(launch(100), "/launch/grid/0");
  EXPECT_EQ(launch(std::int64_t{1} << 39), "/launch/grid/0");
  kernel.launch = {.grid = {"1"}, .block = {"N"}};
  const Kernel wide = runtime.compile(kernel);
  expect_error(ErrorCode::invalid_argument, "1 to 1024 threads along x, and 'N' is 1025", [&] {
    wide.launch(kStream, kArgs, {{"N", 1025}});
  });
  EXPECT_TRUE(fake.launches.empty());
  wide.launch(kStream, kArgs, {{"N", 1024}});
  EXPECT_EQ(fake.launches.at(0).threads, 1024u);
}

TEST_F(KernelLaunch, TakesSharedMemoryBySymbols) {
  CudaKernel kernel = scale_kernel();
  kernel.launch.shared = "4*N";
  FakeDriver fake;
  fake.shared_limit = 100'000;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel compiled = runtime.compile(kernel);
  // The fake's kernels themselves declare 101 bytes.
  EXPECT_THAT(fake.function_attributes,
              ElementsAre(std::pair(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 99'899)));
  compiled.launch(kStream, kArgs, {{"N", 20'000}});
  EXPECT_EQ(fake.launches.at(0).shared_bytes, 80'000u);
  EXPECT_EQ(expect_error(ErrorCode::unsupported,
                         "100000 bytes of shared memory a block, and this "
                         "device has 99899",
                         [&] {
                           compiled.launch(kStream, kArgs, {{"N", 25'000}});
                         }),
            "/launch/shared");
}

TEST_F(KernelLaunch, SetsClusters) {
  CudaKernel kernel = scale_kernel();
  kernel.launch.cluster = "2";
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel compiled = runtime.compile(kernel);
  EXPECT_THAT(fake.function_attributes,
              ElementsAre(std::pair(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2),
                          std::pair(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1),
                          std::pair(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1)));
  compiled.launch(kStream, kArgs, kThousand);
  expect_error(ErrorCode::invalid_argument, "is not a multiple of a cluster of 2", [&] {
    compiled.launch(kStream, kArgs, {{"N", 128}});
  });
  fake.declared_cluster = 4;
  kernel.options = {"-DOTHER"};
  expect_error(ErrorCode::invalid_spec, "the source declares clusters of 4 blocks",
               [&] { (void)runtime.compile(kernel); });
}

TEST_F(KernelLaunch, RefusesOutputsInPlaceOfInputs) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel compiled = runtime.compile(scale_kernel());
  expect_error(ErrorCode::invalid_argument, "overlaps tensor 'x'", [&] {
    compiled.launch(kStream, std::vector<Argument>{on_device(0x10000), on_device(0x10000), 1.0},
                    kThousand);
  });
}

TEST_F(KernelLaunch, NamesTheCallersLine) {
  const TestFolder folder;
  CudaKernel kernel = scale_kernel();
  kernel.zeroed = {"y"};
  kernel.source = folder.write("mine.cu", "#include \"plan.cuh\"\n#include \"h.cuh\"\n\n" +
                                              kernel.text.substr(kernel.text.find('\n')) +
                                              "int fault = kMissing;\n");
  folder.write("h.cuh", "\n");
  kernel.text.clear();
  Compiler compiler(kInMemory);
  const auto fail = [&](const char* why) {
    return expect_error(ErrorCode::compile_failed, why,
                        [&] { (void)compiler.compile(kernel, kHopper); });
  };
  EXPECT_EQ(fail("mine.cu(9): error"), "mine.cu");
  folder.write("h.cuh", "\n\nnonsense x;\n");
  fail("h.cuh(3): error");
}

TEST_F(KernelLaunch, NamesAMissingEntry) {
  CudaKernel kernel = scale_kernel();
  kernel.entry = "scal";
  Compiler compiler(kInMemory);
  EXPECT_EQ(expect_error(ErrorCode::compile_failed,
                         "scale.cu has no kernel 'scal'; declare it extern \"C\" __global__, or "
                         "name one in \"entry\"; it has scale",
                         [&] { (void)compiler.compile(kernel, kHopper); }),
            "/entry");
}

TEST_F(KernelLaunch, TakesOptionsOfTheCompiler) {
  CudaKernel kernel = scale_kernel();
  kernel.text += "static_assert(FOUR == 4, \"\");\n#ifndef __USE_FAST_MATH__\n#error no\n#endif\n";
  Compiler compiler(kInMemory);
  EXPECT_THROW((void)compiler.compile(kernel, kHopper), Error);
  kernel.options = {"-DFOUR=4", "--use_fast_math", "--maxrregcount=64", "-D__USE_FAST_MATH__=1"};
  EXPECT_NO_THROW((void)compiler.compile(kernel, kHopper));
}

TEST_F(KernelLaunch, IsServedWhenSealedAndWarmedFromItsManifest) {
  const TestFolder folder;
  Options options = kInMemory;
  options.cache_folder = folder.path() / "cache";
  CudaKernel kernel = scale_kernel();
  kernel.source = folder.write("k.cu", kernel.text + "#include \"a.cuh\"\n");
  kernel.text.clear();
  folder.write("a.cuh", "// a\n");
  const std::string line = manifest_line(kernel, kHopper) + '\n';
  std::filesystem::remove(folder.path() / "a.cuh");
  {
    const Manifest manifest = parse_manifest(line, {.allow_source = true});
    ASSERT_EQ(manifest.entries.size(), 1u) << manifest.faults.at(0);
    Compiler compiler(options);
    EXPECT_EQ(compiler.compile(manifest.entries[0].op, kHopper).tier, CacheTier::compiled);
  }
  folder.write("a.cuh", "// a\n");
  FakeDriver fake;
  options.miss_policy = MissPolicy::error;
  Runtime runtime = Internals::make_runtime(options, fake.table);
  EXPECT_EQ(runtime.compile(kernel).artifact().tier, CacheTier::disk);
  runtime.seal();
  EXPECT_NO_THROW((void)runtime.compile(kernel));
  kernel.constants[0].value = Number(256);
  try {
    (void)runtime.compile(kernel);
    FAIL() << "it was compiled";
  } catch (const MissError& miss) {
    EXPECT_THAT(miss.what(), HasSubstr("differs in /constants: kThreads=128, not kThreads=256"));
  }
}

TEST_F(KernelLaunch, KeepsSourceAndLinesOfTheCaller) {
  const TestFolder folder;
  Options options = kInMemory;
  options.cache_folder = folder.path() / "cache";
  options.line_info = true;
  options.cache_keep.ptx = true;
  Compiler compiler(options);
  CudaKernel kernel = scale_kernel();
  kernel.zeroed = {"y"};
  const Artifact artifact = compiler.compile(kernel, kHopper);
  std::filesystem::path ptx = compiler.cache().path_of(artifact.key);
  ptx.replace_extension(".ptx");
  std::ifstream file(ptx);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, HasSubstr("scale.cu"));
}

TEST_F(KernelLaunch, IsDispatchedAndBenchmarked) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  CudaKernel kernel = scale_kernel();
  kernel.launch.grid = {"64"};
  kernel.text =
      "#include \"plan.cuh\"\nextern \"C\" __global__ void scale(const "
      "__grid_constant__ Params p) {}\n";
  Dispatcher dispatcher(runtime, kernel);
  const std::vector<std::int64_t> shape = {4800}, stride = {1};
  dispatcher.launch(nullptr,
                    std::vector<Argument>{Argument(f32, on_device(0x10000), shape, stride),
                                          Argument(f32, on_device(0x20000), shape, stride), 1.0});
  EXPECT_EQ(fake.launches.at(0).blocks, 64u);
  kernel.symbols = {{.name = "N", .example = 1 << 20}};
  const Kernel compiled = runtime.compile(kernel);
  const std::vector<std::vector<Argument>> sets = {
      {on_device(0x10000000), on_device(0x20000000), 1.0}};
  const BenchmarkResult result =
      benchmark(runtime, compiled, sets, {{"N", 1 << 20}}, {.warmup = 3, .min_ms = 0, .max_ms = 0},
                {.copy = 2900, .read = 3000});
  EXPECT_EQ(result.work.bytes, 8 << 20);
}

TEST_F(KernelLaunch, CompilesTheExamples) {
  for (const char* name : {"histogram", "dot", "convolution", "row_sums", "mandelbrot"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path path =
        test::source_dir() / "examples/cuda" / (std::string(name) + ".json");
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const SpecOptions options{.allow_source = true, .folder = path.parent_path()};
    Compiler compiler(kInMemory);
    for (const Operation& op : parse_specs(text, nullptr, options)) {
      for (const char* target : {"sm_75", "sm_90a"}) {
        EXPECT_NO_THROW((void)compiler.compile(op, parse_target(target)));
      }
      EXPECT_EQ(parse_operation(to_json(op), {.allow_source = true}), op);
    }
  }
}

}  // namespace
}  // namespace tilejit
