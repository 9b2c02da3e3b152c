// first_kernel SPEC: milliseconds from spec text to a loaded kernel, in a process that has only
// created a Runtime and, as whoever asks for a kernel, put a tensor into device memory: neither is
// counted. Without a GPU: to the cubin in memory. One JSON line; run it twice for the time from the
// disk.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tilejit/tilejit.hpp"

namespace {

using namespace tilejit;
using Clock = std::chrono::steady_clock;

void print(const Artifact& artifact, Clock::time_point start, const char* until) {
  const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
  const StageTimes& t = artifact.times;
  std::printf(
      "{\"tier\": \"%s\", \"until\": \"%s\", \"milliseconds\": %.4f, \"plan\": %.4f, \"key\": "
      "%.4f, "
      "\"lookup\": %.4f, \"render\": %.4f, \"nvrtc\": %.4f, \"publish\": %.4f, \"load\": %.4f}\n",
      std::string(to_string(artifact.tier)).c_str(), until, elapsed.count(), t.plan, t.key,
      t.lookup, t.render, t.nvrtc, t.publish, t.load);
}

void on_gpu(const std::string& text) {
  Runtime runtime;
  runtime.make_current();
  const std::vector<char> host(1 << 20);
  Buffer tensor(runtime, host.size());
  tensor.copy_from_host(host.data(), host.size());
  const auto start = Clock::now();
  const Kernel kernel = runtime.compile(parse_fused(text));
  print(kernel.artifact(), start, "loaded");
}

void without_gpu(const std::string& text) {
  Compiler compiler;
  const auto start = Clock::now();
  print(compiler.compile(parse_fused(text), Target{}), start, "cubin");
}

}  // namespace

int main(int argc, char** argv) try {
  std::ifstream file(argc == 2 ? argv[1] : "");
  if (!file) {
    std::fputs("usage: first_kernel SPEC\n", stderr);
    return 2;
  }
  const std::string text(std::istreambuf_iterator<char>(file), {});
  try {
    on_gpu(text);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
    without_gpu(text);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "first_kernel: %s\n", error.what());
  return 1;
}
