#include "kernels/execute.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <utility>

#include "common/command.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "common/sentence.hpp"
#include "kernels/device_problem.hpp"
#include "kernels/verification.hpp"
#include "tilejit/error.hpp"
#include "tilejit/program.hpp"

namespace tilejit::cli {
namespace {

using Place = std::variant<Runtime, Compiler>;

Place open_place(const std::string& device, Options options, std::string& reason) {
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

void say_line(std::string_view line) {
  fmt::print("{}\n", line);
}

/// Runs the program on the CPU. SIGINT ends it between two statements.
void interpret_program(const TileProgram& program, Problem& problem, const Wanted& wanted,
                       Outcome& outcome) {
  const InterruptScope interrupts;
  InterpretOptions options{.interrupted = [] { return InterruptScope::signal() != 0; },
                           .print = say_line};
  if (wanted.trace) {
    options.trace = say_line;
    options.traced = *wanted.trace;
  }
  std::vector<std::vector<std::byte>> before;
  for (const HostTensor& tensor : problem.tensors) {
    before.emplace_back(tensor.data(), tensor.data() + tensor.size_bytes());
  }
  const auto start = std::chrono::steady_clock::now();
  try {
    interpret(program, problem.arguments(), options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled || InterruptScope::signal() == 0) throw;
    throw Interrupted(InterruptScope::signal(), error.what());
  }
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  outcome.evaluate_ms = elapsed.count();
  if (program.verify.empty() || !wanted.verify) return;
  HostArguments inputs = problem.arguments();
  std::vector<const void*> actual(inputs.tensors.begin(), inputs.tensors.end());
  for (std::size_t i = 0; i < before.size(); ++i) inputs.tensors[i] = before[i].data();
  outcome.verification = verify(problem.op, inputs, actual);
  outcome.by_cpu = false;  // by the formula that the program names
}

}  // namespace

Executor::Executor(const std::string& device, Options options)
    : place_(open_place(device, std::move(options), reason_)) {}

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
  return execute_on_cpu(std::get<Compiler>(place_), problem, wanted);
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
  if (wanted.verify) {
    const Waiting waiting(problem.op.name() + ", compared with its reference");
    outcome.verification = verify_results(runtime, problem, outcome.results);
    outcome.by_cpu = has_reference(problem.op);
    outcome.without_reference = !outcome.verification;
  }
  if (wanted.bench) outcome.benchmark = measure(runtime, kernel, problem);
  return outcome;
}

Outcome Executor::execute_on_cpu(Compiler& compiler, Problem& problem, const Wanted& wanted) {
  Outcome outcome;
  if (const TileProgram* const program = tile_program(problem.op)) {
    outcome.is_interpreted = true;
    outcome.not_compiled = "the CPU interprets programs";
    interpret_program(*program, problem, wanted, outcome);
    return outcome;
  }
  try {
    outcome.artifact = compiler.compile(problem.op, Target{});
  } catch (const Error& error) {
    const bool not_here =
        error.code() == ErrorCode::no_compiler || error.code() == ErrorCode::unsupported;
    if (!not_here) throw;  // the reference may manage what kernels cannot
    outcome.not_compiled = sentence(error);
    outcome.has_no_kernel = error.code() == ErrorCode::unsupported;
  }
  const Waiting waiting(problem.op.name() + " on the CPU reference");
  const auto start = std::chrono::steady_clock::now();
  evaluate(problem.op, problem.arguments());
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  outcome.evaluate_ms = elapsed.count();
  return outcome;
}

}  // namespace tilejit::cli
