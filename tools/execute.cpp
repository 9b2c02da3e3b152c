#include "execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "command.hpp"
#include "sentence.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

constexpr std::size_t kMostArgumentSets = 16;

using Place = std::variant<Runtime, Compiler>;

Place open_place(const std::string& device, std::string& reason) {
  Options options = Options::from_env();
  if (device == "cpu") return Compiler(std::move(options));
  if (device == "auto") {
    try {
      return Runtime(options);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
      reason = sentence(error);
      return Compiler(std::move(options));
    }
  }
  const char* end = device.data() + device.size();
  const auto [next, error] = std::from_chars(device.data(), end, options.device);
  if (error != std::errc() || next != end || options.device < 0) {
    throw UsageError(
        fmt::format("--device takes auto, cpu or a device's number, got '{}'", device));
  }
  return Runtime(std::move(options));
}

// Device copies of all tensors of a problem, and the argument list that names them.
struct DeviceArguments {
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
};

DeviceArguments upload(const Runtime& runtime, const Problem& problem) {
  DeviceArguments device;
  for (const HostTensor& tensor : problem.tensors) {
    Buffer& buffer = device.buffers.emplace_back(runtime, tensor.size_bytes());
    if (tensor.size_bytes() > 0) buffer.copy_from_host(tensor.data(), tensor.size_bytes());
    device.arguments.emplace_back(buffer);
  }
  device.arguments.insert(device.arguments.end(), problem.scalars.begin(), problem.scalars.end());
  return device;
}

std::vector<HostTensor> download(const Problem& problem, const DeviceArguments& device) {
  std::vector<HostTensor> results;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    if (problem.access[i] == Access::in) continue;
    const HostTensor& result = results.emplace_back(problem.tensors[i].size_bytes());
    if (result.size_bytes() > 0) {
      device.buffers[i].copy_to_host(result.data(), result.size_bytes());
    }
  }
  return results;
}

Verification check(const Problem& problem, const std::vector<HostTensor>& results) {
  std::vector<const void*> actual;
  auto result = results.begin();
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const bool written = problem.access[i] != Access::in;
    actual.push_back(written ? (result++)->data() : problem.tensors[i].data());
  }
  return verify(problem.op, problem.arguments(), actual);
}

// Enough argument sets to exceed L2 twice, in at most a quarter of the device's memory.
std::size_t argument_sets(const Runtime& runtime, const Problem& problem) {
  std::size_t bytes = 1;
  for (const HostTensor& tensor : problem.tensors) bytes += tensor.size_bytes();
  const DeviceInfo& device = runtime.device();
  const std::size_t wanted = 2 * static_cast<std::size_t>(device.l2_bytes) / bytes + 1;
  const std::size_t fitting = std::max<std::size_t>(device.memory_bytes / 4 / bytes, 1);
  return std::min({wanted, fitting, kMostArgumentSets});
}

Benchmark measure(const Runtime& runtime, const Kernel& kernel, const Problem& problem) {
  std::vector<DeviceArguments> sets;
  std::vector<std::vector<Argument>> rotate;
  for (std::size_t i = argument_sets(runtime, problem); i > 0; --i) {
    rotate.push_back(sets.emplace_back(upload(runtime, problem)).arguments);
  }
  Benchmark result;
  result.argument_sets = static_cast<int>(sets.size());
  result.kernel = time_launches(runtime, kernel, rotate, problem.symbols);
  // A copy reads and writes each byte.
  const auto copied = static_cast<std::size_t>(std::max<std::int64_t>(problem.bytes_moved / 2, 1));
  result.copy = time_copy(runtime, copied);
  return result;
}

}  // namespace

double Benchmark::gigabytes_per_second(std::int64_t bytes_moved) const noexcept {
  return kernel.median_ms > 0 ? static_cast<double>(bytes_moved) / kernel.median_ms / 1e6 : 0;
}

double Benchmark::percent_of_copy() const noexcept {
  return kernel.median_ms > 0 ? 100 * copy.median_ms / kernel.median_ms : 0;
}

Executor::Executor(const std::string& device) : place_(open_place(device, reason_)) {}

bool Executor::on_gpu() const noexcept {
  return std::holds_alternative<Runtime>(place_);
}

std::string Executor::device_name() const {
  const auto* runtime = std::get_if<Runtime>(&place_);
  return runtime != nullptr ? runtime->device().name : "cpu";
}

Outcome Executor::execute(Problem& problem, const Wanted& wanted) {
  if (auto* runtime = std::get_if<Runtime>(&place_)) {
    return execute_on_gpu(*runtime, problem, wanted);
  }
  return execute_on_cpu(std::get<Compiler>(place_), problem);
}

Outcome Executor::execute_on_gpu(Runtime& runtime, Problem& problem, const Wanted& wanted) {
  Outcome outcome;
  const Kernel kernel = runtime.compile(problem.op);
  outcome.artifact = kernel.artifact();
  runtime.make_current();
  {
    const DeviceArguments device = upload(runtime, problem);
    kernel.launch(nullptr, device.arguments, problem.symbols);
    outcome.results = download(problem, device);
  }
  if (wanted.verify) outcome.verification = check(problem, outcome.results);
  if (wanted.bench) outcome.benchmark = measure(runtime, kernel, problem);
  return outcome;
}

Outcome Executor::execute_on_cpu(Compiler& compiler, Problem& problem) {
  Outcome outcome;
  try {
    outcome.artifact = compiler.compile(problem.op, Target{});
  } catch (const Error& error) {
    const bool not_here =
        error.code() == ErrorCode::no_compiler || error.code() == ErrorCode::unsupported;
    if (!not_here) throw;  // the reference may do what kernels cannot
    outcome.not_compiled = sentence(error);
  }
  const auto start = std::chrono::steady_clock::now();
  evaluate(problem.op, problem.arguments());
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  outcome.evaluate_ms = elapsed.count();
  return outcome;
}

}  // namespace tilejit::cli
