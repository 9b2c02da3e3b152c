// Measures the costs of launching, as one JSON object. On a device, it compares with the driver
// alone, with the same cubin, parameters and grid. With --host, on any machine, it measures the
// time that the library adds to a driver whose functions do nothing.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bare_kernel.hpp"
#include "evicting_driver.hpp"
#include "fake/fake_driver.hpp"
#include "launch/internals.hpp"
#include "launch_timing.hpp"
#include "operation/boxes.hpp"
#include "tilejit/tilejit.hpp"

namespace {

using namespace tilejit;

constexpr int kNodes = 100;     // of a graph, each after the one before
constexpr int kFirstRuns = 21;  // of work that happens once per process

Options in_memory() {
  Options options = Options::from_env();
  options.cache_folder.reset();
  options.cache_path.clear();
  options.tuning_file.reset();
  return options;
}

/// Four arguments: three tensors and a scalar.
Fused scaled_add(const std::string& layout) {
  return {.name = "add",
          .tensors = {{"a", f32, layout}, {"b", f32, layout}, {"c", f32, layout}},
          .scalars = {{"s", f32}},
          .formula = "c = a + b * s"};
}

Fused template_of_add() {
  return {.name = "add",
          .tensors = {{.name = "a"}, {.name = "b"}, {.name = "c"}},
          .scalars = {{"s", f32}},
          .formula = "c = a + b * s"};
}

/// A caller's own kernel with the same arguments.
CudaKernel own_scaled_add(const std::string& layout, const std::string& grid) {
  CudaKernel kernel;
  kernel.name = "own_add";
  kernel.tensors = {{"a", f32, layout}, {"b", f32, layout}, {"c", f32, layout, Access::out}};
  kernel.scalars = {{"s", f32}};
  kernel.launch = {.grid = {grid}, .block = {"256"}};
  kernel.text =
      "#include \"plan.cuh\"\n"
      "extern \"C\" __global__ void own_add(const __grid_constant__ Params p) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
      "  p.c[i] = p.a[i] + p.b[i] * p.s;\n}\n";
  return kernel;
}

constexpr std::array<std::int64_t, 2> kShape = {64, 64}, kStride = {64, 1};

/// The arguments of a launch; if `shapes`, with shapes, as a framework passes them.
std::vector<Argument> arguments(std::span<void* const> tensors, bool shapes) {
  std::vector<Argument> args;
  for (void* tensor : tensors) {
    args.push_back(shapes ? Argument(f32, tensor, kShape, kStride) : Argument(tensor));
  }
  args.emplace_back(2.0f);
  return args;
}

/// The same tensors, in other sizes from launch to launch; all sizes are of one kind.
class Changing {
 public:
  explicit Changing(std::span<void* const> tensors) {
    for (std::size_t i = 0; i < kSizes; ++i) {
      const auto less = static_cast<std::int64_t>(i);
      shapes_[i] = {64 - less, 64 - 4 * (less % 3)};
      strides_[i] = {shapes_[i][1], 1};
      for (void* tensor : tensors) args_[i].emplace_back(f32, tensor, shapes_[i], strides_[i]);
      args_[i].emplace_back(2.0f);
    }
  }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
  [[nodiscard]] std::span<const Argument> next() noexcept { return args_[turn_++ % kSizes]; }

 private:
  static constexpr std::size_t kSizes = 8;
  std::array<std::array<std::int64_t, 2>, kSizes> shapes_ = {}, strides_ = {};
  std::array<std::vector<Argument>, kSizes> args_;
  std::size_t turn_ = 0;
};

using Figures = std::map<std::string, double>;

void print(const Figures& figures) {
  std::string text;
  for (const auto& [name, value] : figures) {
    std::array<char, 64> number = {};
    std::snprintf(number.data(), number.size(), "%.4f", value);
    text += (text.empty() ? "" : ",\n") + std::string("  \"") + name + "\": " + number.data();
  }
  std::printf("{\n%s\n}\n", text.c_str());
}

/// Addresses that nothing reads.
std::array<void*, 3> host_tensors() {
  return {reinterpret_cast<void*>(0x100000), reinterpret_cast<void*>(0x200000),
          reinterpret_cast<void*>(0x300000)};
}

/// Fills in the calls that the launch paths make, without a driver behind them.
void do_nothing(driver::Table& table) {
  table.cuLaunchKernel_ = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, CUstream, void**, void**) { return CUDA_SUCCESS; };
  table.cuLaunchKernelEx_ = [](const CUlaunchConfig*, CUfunction, void**, void**) {
    return CUDA_SUCCESS;
  };
  table.cuGraphExecKernelNodeSetParams_ =
      [](CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*) { return CUDA_SUCCESS; };
  table.cuTensorMapEncodeTiled_ =
      [](CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
         const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
         CUtensorMapL2promotion, CUtensorMapFloatOOBfill) { return CUDA_SUCCESS; };
}

/// One of two tensors is passed as a tensor map.
test::Boxes boxes_of_known_size() {
  test::Boxes op;
  op.tensors = {{"x", f16, "(64,128):(128,1)", Access::in}, {"y", f16, "8192:1", Access::out}};
  return op;
}

/// The time that the library adds if the driver has evicted the caches in between.
void measure_evicted(FakeDriver& fake, Figures& figures) {
  fake.table.cuLaunchKernel_ = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**, void**) {
    bench::evict_caches();
    return CUDA_SUCCESS;
  };
  Runtime runtime = launch::Internals::make_runtime(in_memory(), fake.table);
  const Kernel known = runtime.compile(scaled_add("(64,64):(64,1)"));
  Dispatcher dispatcher(runtime, template_of_add());
  const std::vector<Argument> bare = arguments(host_tensors(), false);
  Changing changing(host_tensors());
  const BoundLaunch bound = known.bind(bare);
  const auto driver = [&] {
    (void)fake.table.cuLaunchKernel_(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  };
  const std::vector<double> medians = bench::turn_microseconds(
      {driver, [&] { bound.launch(nullptr); }, [&] { known.launch(nullptr, bare); },
       [&] { dispatcher.launch(nullptr, changing.next()); }});
  figures["host_evicted_bound_launch_us"] = medians[1] - medians[0];
  figures["host_evicted_launch_us"] = medians[2] - medians[0];
  figures["host_evicted_dispatch_us"] = medians[3] - medians[0];
}

Figures measure_host() {
  FakeDriver fake;
  do_nothing(fake.table);
  Runtime runtime = launch::Internals::make_runtime(in_memory(), fake.table);
  const std::array<void*, 3> tensors = host_tensors();
  const std::vector<Argument> bare = arguments(tensors, false), shaped = arguments(tensors, true);
  const Kernel known = runtime.compile(scaled_add("(64,64):(64,1)"));
  const Kernel symbolic = runtime.compile(scaled_add("(M,N):(N,1)"));
  Dispatcher dispatcher(runtime, template_of_add());
  BoundLaunch bound = known.bind(bare);
  GraphBuilder builder(runtime);
  const Node node = builder.kernel(bound);
  GraphExec graph = builder.finish().instantiate();
  Figures figures;
  const auto measure = [&](const char* name, const std::function<void()>& call) {
    figures[name] = bench::call_microseconds(call);
  };
  measure("host_empty_us", [&] {});
  measure("host_launch_us", [&] { known.launch(nullptr, bare); });
  measure("host_launch_with_shapes_us", [&] { known.launch(nullptr, shaped); });
  measure("host_launch_of_symbols_us", [&] { symbolic.launch(nullptr, shaped); });
  measure("host_launch_with_options_us",
          [&] { known.launch(nullptr, bare, {}, {.overlap = true}); });
  measure("host_bound_launch_us", [&] { bound.launch(nullptr); });
  measure("host_bound_set_us", [&] { bound.set(0, tensors[0]); });
  Changing changing(tensors);
  measure("host_dispatch_us", [&] { dispatcher.launch(nullptr, changing.next()); });
  measure("host_node_update_us", [&] { graph.update(node, bare); });
  measure("host_bound_node_update_us", [&] { graph.update(node, bound); });
  const Kernel own = runtime.compile(own_scaled_add("(64,64):(64,1)", "16"));
  measure("host_launch_of_own_kernel_us", [&] { own.launch(nullptr, bare); });
  const Kernel own_symbolic =
      runtime.compile(own_scaled_add("(M,N):(N,1)", "ceil_div(M * N, 256)"));
  measure("host_launch_of_own_kernel_of_symbols_us", [&] { own_symbolic.launch(nullptr, shaped); });
  const Kernel mapped = runtime.compile(test::boxes(boxes_of_known_size()));
  const std::vector<Argument> two = {bare[0], bare[1]};
  measure("host_launch_with_a_tensor_map_us", [&] { mapped.launch(nullptr, two); });
  measure_evicted(fake, figures);
  return figures;
}

/// The state that the measurements on a device share.
struct Device {
  Runtime runtime{in_memory()};
  const driver::Table& driver = driver::load_driver();
  std::vector<Buffer> buffers;
  std::array<void*, 3> tensors = {};
  std::optional<OwnedStream> stream;

  Device() {
    runtime.make_current();
    for (void*& tensor : tensors) {
      tensor = buffers.emplace_back(runtime, 64 * 64 * sizeof(float)).data();
    }
    stream.emplace(runtime);
  }
};

void measure_launches(Device& device, Figures& figures) {
  const std::vector<Argument> bare = arguments(device.tensors, false);
  Changing changing(device.tensors);
  const Kernel kernel = device.runtime.compile(scaled_add("(64,64):(64,1)"));
  bench::BareKernel alone(kernel, bare);
  const BoundLaunch bound = kernel.bind(bare);
  Dispatcher dispatcher(device.runtime, template_of_add());
  dispatcher.launch(*device.stream, changing.next());
  const std::vector<double> medians = bench::batch_microseconds(
      device.driver, *device.stream,
      {[&] { alone.launch(*device.stream); }, [&] { kernel.launch(*device.stream, bare); },
       [&] { bound.launch(*device.stream); },
       [&] { kernel.launch(*device.stream, bare, {}, {.overlap = true}); },
       [&] { dispatcher.launch(*device.stream, changing.next()); }});
  figures["cuLaunchKernel_us"] = medians[0];
  figures["launch_us"] = medians[1];
  figures["ratio"] = medians[1] / medians[0];
  figures["bound_launch_us"] = medians[2];
  figures["overlapping_launch_us"] = medians[3];
  figures["dispatch_us"] = medians[4];
  figures["dispatch_above_cuLaunchKernel_us"] = medians[4] - medians[0];
}

void measure_graphs(Device& device, Figures& figures) {
  const std::vector<Argument> args = arguments(device.tensors, false);
  const Kernel kernel = device.runtime.compile(scaled_add("(64,64):(64,1)"));
  bench::BareKernel alone(kernel, args);
  GraphBuilder builder(device.runtime);
  std::vector<Node> nodes;
  for (int i = 0; i < kNodes; ++i) {
    nodes.push_back(builder.kernel(kernel, args, i == 0 ? After() : After(nodes.back())));
  }
  const Graph graph = builder.finish();
  GraphExec ours = graph.instantiate();
  const bench::BareGraph theirs(alone, kNodes);
  const BoundLaunch bound = kernel.bind(args);
  const auto in_stream = [&](const LaunchOptions& options) {
    return [&kernel, &args, &device, options] {
      for (int i = 0; i < kNodes; ++i) kernel.launch(*device.stream, args, {}, options);
    };
  };
  const std::vector<double> times = bench::device_microseconds(
      device.driver, *device.stream,
      {[&] { theirs.launch(*device.stream); }, [&] { ours.launch(*device.stream); }, in_stream({}),
       in_stream({.overlap = true})});
  figures["bare_graph_node_us"] = times[0] / kNodes;
  figures["graph_node_us"] = times[1] / kNodes;
  figures["graph_node_ratio"] = times[1] / times[0];
  figures["stream_node_us"] = times[2] / kNodes;
  figures["overlapping_stream_node_us"] = times[3] / kNodes;
  std::size_t turn = 0;
  const std::vector<double> updates =
      bench::batch_microseconds(device.driver, *device.stream,
                                {[&] { theirs.update(alone, turn++ % kNodes); },
                                 [&] { ours.update(nodes[turn++ % kNodes], args); },
                                 [&] { ours.update(nodes[turn++ % kNodes], bound); }});
  figures["bare_node_update_us"] = updates[0];
  figures["node_update_us"] = updates[1];
  figures["bound_node_update_us"] = updates[2];
  figures["node_update_above_bare_us"] = updates[1] - updates[0];
}

/// A separate folder, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "launch_bench.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorCode::io, "no folder for a cache could be made as " + pattern);
    }
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Milliseconds that a new Runtime takes to compile (from the disk), load and launch inside a
/// capture.
double first_launch_in_capture(const Device& device, const Options& options, const Fused& op) {
  Runtime fresh(options);
  Capture capture(fresh, *device.stream, Capture::Mode::global);
  const auto start = bench::Clock::now();
  const Kernel kernel = fresh.compile(op);
  kernel.launch(*device.stream, arguments(device.tensors, false));
  const double elapsed = bench::microseconds_since(start) / 1e3;
  const Graph graph = capture.end();
  graph.instantiate().launch(*device.stream);
  device.stream->synchronize();
  return elapsed;
}

void measure_first_launches(Device& device, Figures& figures) {
  const ScratchFolder folder;
  Options options = in_memory();
  options.cache_folder = folder.path();
  const Fused op = scaled_add("(64,64):(64,1)");
  (void)Runtime(options).compile(op);
  std::vector<double> times;
  for (int i = 0; i < kFirstRuns; ++i) {
    times.push_back(first_launch_in_capture(device, options, op));
  }
  figures["first_launch_in_capture_ms"] = times.front();
  std::ranges::sort(times);
  figures["launch_in_capture_by_a_new_runtime_ms"] = times[kFirstRuns / 2];
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "--host") {
      print(measure_host());
      return 0;
    }
    Figures figures;
    Device device;
    measure_first_launches(device, figures);  // before any other work of the library
    measure_launches(device, figures);
    measure_graphs(device, figures);
    print(figures);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "launch_bench: %s\n", error.what());
    return 1;
  }
}
