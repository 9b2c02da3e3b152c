// Measures a kernel as a node of a graph, from 1 KB to 100 MB of memory moved: its cost at sizes
// whose launches would cost more. Prints one line of JSON per size; bench/small.py compares it with
// peers.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "tilejit/tilejit.hpp"

namespace {

using namespace tilejit;

constexpr int kNodes = 50;     // of a graph, each after the one before
constexpr int kLaunches = 21;  // of the graph

/// A node's share of the graph's time, in microseconds: the median of the launches.
double node_microseconds(const driver::Table& driver, const Kernel& kernel,
                         const std::vector<Argument>& args, CUstream stream) {
  const auto check = [&](CUresult result) { driver::check(driver, result, "graph_bench"); };
  check(driver.cuStreamBeginCapture_(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (int i = 0; i < kNodes; ++i) kernel.launch(stream, args);
  CUgraph graph{};
  CUgraphExec executable{};
  check(driver.cuStreamEndCapture_(stream, &graph));
  check(driver.cuGraphInstantiate_(&executable, graph, 0));
  CUevent begin{}, end{};
  check(driver.cuEventCreate_(&begin, 0));
  check(driver.cuEventCreate_(&end, 0));
  std::vector<float> times;
  for (int i = 0; i < kLaunches + 3; ++i) {  // three to warm up
    check(driver.cuEventRecord_(begin, stream));
    check(driver.cuGraphLaunch_(executable, stream));
    check(driver.cuEventRecord_(end, stream));
    check(driver.cuStreamSynchronize_(stream));
    float milliseconds = 0;
    check(driver.cuEventElapsedTime_(&milliseconds, begin, end));
    if (i >= 3) times.push_back(milliseconds);
  }
  check(driver.cuEventDestroy_(begin));
  check(driver.cuEventDestroy_(end));
  check(driver.cuGraphExecDestroy_(executable));
  check(driver.cuGraphDestroy_(graph));
  std::nth_element(times.begin(), times.begin() + kLaunches / 2, times.end());
  return 1e3 * times[kLaunches / 2] / kNodes;
}

/// The operation on so many elements that it reads and writes about `bytes` bytes.
Fused operation(const std::string& name, std::int64_t bytes) {
  if (name == "add") {
    const std::string n = std::to_string(bytes / 6);
    return {.name = "add",
            .tensors = {{"a", f16, n + ":1"}, {"b", f16, n + ":1"}, {"c", f16, n + ":1"}},
            .formula = "c = a + b"};
  }
  const std::string rows = std::to_string(std::max<std::int64_t>(1, bytes / 4096));
  const std::string layout = "(" + rows + ",1024):(1024,1)";
  return {.name = "softmax",
          .tensors = {{"x", bf16, layout}, {"y", bf16, layout}},
          .formula = "e = exp(x - max(x))\ny = e / sum(e)"};
}

void measure(Runtime& runtime, CUstream stream) {
  for (const char* name : {"add", "softmax"}) {
    for (std::int64_t bytes = 6 * 1024; bytes < 110'000'000; bytes *= 4) {
      const Fused op = operation(name, bytes);
      const Kernel kernel = runtime.compile(op);
      std::vector<Buffer> buffers;
      std::vector<Argument> args;
      std::int64_t moved = 0;
      for (const Tensor& tensor : op.tensors) {
        const std::int64_t size = cosize(tensor.layout) * size_bytes(tensor.dtype);
        moved += size;
        buffers.emplace_back(runtime, static_cast<std::size_t>(size));
        const std::string zeros(static_cast<std::size_t>(size), '\0');
        buffers.back().copy_from_host(zeros.data(), zeros.size());
      }
      for (const Buffer& buffer : buffers) args.emplace_back(buffer);
      std::printf("{\"kernel\": \"%s\", \"bytes\": %lld, \"microseconds\": %.3f}\n", name,
                  static_cast<long long>(moved),
                  node_microseconds(driver::load_driver(), kernel, args, stream));
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main() {
  try {
    Runtime runtime;
    runtime.make_current();
    const driver::Table& driver = driver::load_driver();
    CUstream stream{};
    driver::check(driver, driver.cuStreamCreate_(&stream, CU_STREAM_NON_BLOCKING),
                  "cuStreamCreate");
    measure(runtime, stream);
    driver::check(driver, driver.cuStreamDestroy_(stream), "cuStreamDestroy");
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "graph_bench: %s\n", error.what());
    return 1;
  }
}
