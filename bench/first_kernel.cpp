// first_kernel SPEC [CUBIN ENTRY]: milliseconds from spec text to a loaded kernel, in a process
// that has only created a Runtime and put a tensor into device memory, as any program that asks for
// a kernel has. Neither is counted. With CUBIN, the driver loads that kernel before the time
// begins, in place of a program's other kernels: the first load in a context costs the driver more
// than the next. Without a GPU, the time ends at the cubin in memory. Prints one JSON line; the
// second run gives the time from the disk.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "driver/loader.hpp"
#include "tilejit/tilejit.hpp"

namespace {

using namespace tilejit;
using Clock = std::chrono::steady_clock;

void print(const Artifact& artifact, Clock::time_point start, const char* until) {
  const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
  const StepTimes& t = artifact.times;
  std::printf(
      "{\"tier\": \"%s\", \"until\": \"%s\", \"milliseconds\": %.4f, \"plan\": %.4f, \"key\": "
      "%.4f, "
      "\"lookup\": %.4f, \"render\": %.4f, \"nvrtc\": %.4f, \"publish\": %.4f, \"load\": %.4f}\n",
      std::string(to_string(artifact.tier)).c_str(), until, elapsed.count(), t.plan, t.key,
      t.lookup, t.render, t.nvrtc, t.publish, t.load);
}

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::io, "cannot be read", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The kernel stays loaded for the life of the process.
void load_other_kernel(const char* path, const char* entry) {
  const driver::Table& driver = driver::load_driver();
  const std::string cubin = contents(path);
  CUlibrary library{};
  CUkernel kernel{};
  CUfunction function{};
  driver::check(
      driver,
      driver.cuLibraryLoadData_(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cuLibraryLoadData");
  driver::check(driver, driver.cuLibraryGetKernel_(&kernel, library, entry), "cuLibraryGetKernel");
  driver::check(driver, driver.cuKernelGetFunction_(&function, kernel), "cuKernelGetFunction");
}

/// The kernel of `text`, a spec in `folder`; the person who runs this has named it.
Operation operation_of(const std::string& text, const std::filesystem::path& folder) {
  return parse_operation(text, {.allow_source = true, .folder = folder});
}

void on_gpu(const std::string& text, const std::filesystem::path& folder, const char* cubin,
            const char* entry) {
  Runtime runtime;
  runtime.make_current();
  if (cubin != nullptr) load_other_kernel(cubin, entry);
  const std::vector<char> host(1 << 20);
  Buffer tensor(runtime, host.size());
  tensor.copy_from_host(host.data(), host.size());
  const auto start = Clock::now();
  const Kernel kernel = runtime.compile(operation_of(text, folder));
  print(kernel.artifact(), start, "loaded");
}

void without_gpu(const std::string& text, const std::filesystem::path& folder) {
  Compiler compiler;
  const auto start = Clock::now();
  print(compiler.compile(operation_of(text, folder), Target{}), start, "cubin");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 4) {
    std::fputs("usage: first_kernel SPEC [CUBIN ENTRY]\n", stderr);
    return 2;
  }
  const std::string text = contents(argv[1]);
  const std::filesystem::path folder = std::filesystem::path(argv[1]).parent_path();
  try {
    on_gpu(text, folder, argc == 4 ? argv[2] : nullptr, argc == 4 ? argv[3] : nullptr);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
    without_gpu(text, folder);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "first_kernel: %s\n", error.what());
  return 1;
}
