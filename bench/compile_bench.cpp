// Measures the way from spec text to cubin, without a GPU: the time that the library adds to
// NVRTC's own, the costs of the cache's tiers, and the cost of the device library in NVRTC.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "compile/nvrtc.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/tilejit.hpp"

namespace {

using namespace tilejit;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kCompiles = 20;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A cache folder that is removed when the benchmark ends.
class ScratchFolder {
 public:
  ScratchFolder()
      : path_(fs::temp_directory_path() / ("tilejit-bench-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] Options options() const {
    Options options = Options::from_env();
    options.cache_folder = path_;
    return options;
  }

 private:
  fs::path path_;
};

// The vector addition. Its name enters the key, so that each number is a separate kernel.
std::string spec_text(int number, DType dtype = f16) {
  constexpr const char* kLayout = "(16384,8192):(8192,1)";
  return to_json(
      Fused{.name = "add_" + std::to_string(number),
            .tensors = {{"a", dtype, kLayout}, {"b", dtype, kLayout}, {"c", dtype, kLayout}},
            .formula = "c = a + b"});
}

// A caller's own vector addition, likewise.
std::string own_spec_text(int number) {
  CudaKernel kernel;
  kernel.name = "own_" + std::to_string(number);
  kernel.tensors = {
      {"a", f16, "(N):(1)"}, {"b", f16, "(N):(1)"}, {"c", f16, "(N):(1)", Access::out}};
  kernel.launch = {.grid = {"ceil_div(N, 256)"}, .block = {"256"}};
  kernel.text =
      "#include \"plan.cuh\"\nextern \"C\" __global__ void " + kernel.name +
      "(const __grid_constant__ Params p) {\n"
      "  const i64 i = blockIdx.x * 256ll + threadIdx.x;\n"
      "  if (i < p.N) p.c[i] = store_as<f16>(to_compute(p.a[i]) + to_compute(p.b[i]));\n}\n";
  return to_json(Operation(kernel));
}

Operation parse(const std::string& text) {
  return parse_operation(text, SpecOptions{.allow_source = true});
}

// Compiles one kernel per iteration that no cache has. The counters are means over the iterations.
void measure_cold(benchmark::State& state, std::string (*text_of)(int)) {
  const ScratchFolder folder;
  Compiler compiler(folder.options());
  // The first compile loads NVRTC.
  (void)compiler.compile(parse(text_of(kCompiles)), Target{});
  double nvrtc = 0, beyond = 0;
  int number = 0;
  for (auto _ : state) {
    const std::string text = text_of(number++);
    const auto start = Clock::now();
    const Artifact artifact = compiler.compile(parse(text), Target{});
    const double whole = milliseconds_since(start);
    nvrtc += artifact.times.nvrtc;
    beyond += whole - artifact.times.nvrtc;
  }
  state.counters["nvrtc_ms"] = benchmark::Counter(nvrtc, benchmark::Counter::kAvgIterations);
  state.counters["beyond_nvrtc_ms"] =
      benchmark::Counter(beyond, benchmark::Counter::kAvgIterations);
}
void cold(benchmark::State& state) {
  measure_cold(state, [](int number) { return spec_text(number); });
}
BENCHMARK(cold)->Iterations(kCompiles)->Unit(benchmark::kMillisecond)->UseRealTime();

void cold_own_kernel(benchmark::State& state) {
  measure_cold(state, own_spec_text);
}
BENCHMARK(cold_own_kernel)->Iterations(kCompiles)->Unit(benchmark::kMillisecond)->UseRealTime();

void memory_hit(benchmark::State& state) {
  const ScratchFolder folder;
  Compiler compiler(folder.options());
  const std::string text = spec_text(0);
  for (auto _ : state) benchmark::DoNotOptimize(compiler.compile(parse_fused(text), Target{}));
}
BENCHMARK(memory_hit)->Unit(benchmark::kMillisecond)->UseRealTime();

// A new Compiler per iteration: its memory is empty.
void disk_hit(benchmark::State& state) {
  const ScratchFolder folder;
  const std::string text = spec_text(0);
  (void)Compiler(folder.options()).compile(parse_fused(text), Target{});
  for (auto _ : state) {
    Compiler compiler(folder.options());
    benchmark::DoNotOptimize(compiler.compile(parse_fused(text), Target{}));
  }
}
BENCHMARK(disk_hit)->Unit(benchmark::kMillisecond)->UseRealTime();

// The cost of a kernel that nobody warmed, in a service with 1,762 kernels: a descriptor of another
// width. `forbidden`: the Compiler is not sealed, so the folder is asked first.
void miss(benchmark::State& state, bool sealed) {
  const ScratchFolder folder;
  Options options = folder.options();
  options.miss_policy = MissPolicy::error;
  Compiler compiler(options);
  const auto op = [](int columns) {
    const Layout layout("(M," + std::to_string(columns) + "):(" + std::to_string(columns) + ",1)");
    return Fused{.name = "softmax",
                 .tensors = {{"x", bf16, layout}, {"y", bf16, layout}},
                 .formula = "e = exp(x - max(x)); y = e / sum(e)"};
  };
  for (int i = 0; i < 1762; ++i) {
    const std::string key = compiler.explain(op(64 + i), Target{}).key;
    compiler.cache().put(key, {.payload = "cubin", .metadata = "{}"});
    (void)compiler.compile(op(64 + i), Target{});
  }
  if (sealed) compiler.seal();
  std::vector<Operation> unseen;
  for (int i = 0; i < 256; ++i) unseen.push_back(op(4096 + i));
  std::size_t i = 0;
  for (auto _ : state) {
    try {
      benchmark::DoNotOptimize(compiler.compile(unseen[i++ % unseen.size()], Target{}));
    } catch (const MissError& error) {
      benchmark::DoNotOptimize(error.what());
    }
  }
}
BENCHMARK_CAPTURE(miss, sealed, true)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(miss, forbidden, false)->Unit(benchmark::kMicrosecond)->UseRealTime();

// The time that recording adds to a request that memory answers.
void recorded_memory_hit(benchmark::State& state) {
  const ScratchFolder folder;
  Options options = folder.options();
  options.record = *options.cache_folder / "used.jsonl";
  Compiler compiler(options);
  const std::string text = spec_text(0);
  for (auto _ : state) benchmark::DoNotOptimize(compiler.compile(parse_fused(text), Target{}));
}
BENCHMARK(recorded_memory_hit)->Unit(benchmark::kMillisecond)->UseRealTime();

compile::Request request_of(const std::string& source) {
  compile::Request request;
  request.source.name = "kernel.cu";
  request.source.text = source;
  request.target = "sm_90a";
  request.options = compile::default_options();
  return request;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// Both are measured in turns, so that clocks and noise affect both alike.
void nvrtc_vector_add(benchmark::State& state, DType dtype) {
  const compile::Nvrtc nvrtc;
  const compile::Request empty = request_of("extern \"C\" __global__ void empty() {}\n");
  const compile::Request add =
      request_of(render_source(parse_fused(spec_text(0, dtype)), Target{}));
  (void)nvrtc.compile(empty);
  std::vector<double> empty_ms, add_ms;
  for (auto _ : state) {
    empty_ms.push_back(nvrtc.compile(empty).milliseconds);
    add_ms.push_back(nvrtc.compile(add).milliseconds);
  }
  state.counters["empty_ms"] = median(empty_ms);
  state.counters["add_ms"] = median(add_ms);
  state.counters["ratio"] = median(add_ms) / median(empty_ms);
}
BENCHMARK_CAPTURE(nvrtc_vector_add, f16, f16)->Iterations(61)->UseRealTime();
BENCHMARK_CAPTURE(nvrtc_vector_add, f32, f32)->Iterations(61)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
