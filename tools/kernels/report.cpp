#include "kernels/report.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

#include "common/spec_file.hpp"
#include "common/terminal.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

using Steps = std::array<std::pair<const char*, double>, 7>;

Steps steps_of(const StepTimes& times) {
  return {{{"plan", times.plan},
           {"key", times.key},
           {"lookup", times.lookup},
           {"render", times.render},
           {"nvrtc", times.nvrtc},
           {"publish", times.publish},
           {"load", times.load}}};
}

std::string tier_text(CacheTier tier) {
  switch (tier) {
    case CacheTier::memory: return "found in memory";
    case CacheTier::disk: return "found on disk";
    case CacheTier::read_only: return "found in a read-only cache";
    case CacheTier::remote: return "found in the remote cache";
    case CacheTier::compiled: break;
  }
  return "compiled by NVRTC";
}

// ", 24 registers, no spills", if the compiler reported them.
std::string resources_text(const Artifact& artifact) {
  const auto metadata = ordered_json::parse(*artifact.metadata, nullptr, false);
  if (!metadata.is_object() || !metadata.contains("registers")) return "";
  const int spilled = metadata.value("spill_bytes", 0);
  return fmt::format(", {} registers, {}", metadata["registers"].get<int>(),
                     spilled == 0 ? "no spills" : fmt::format("{} bytes spilled", spilled));
}

ordered_json timing_json(const TimeSummary& time) {
  return {{"median_ms", time.median_ms},
          {"min_ms", time.min_ms},
          {"p90_ms", time.p90_ms},
          {"iterations", time.samples},
          {"relative_error", time.relative_error()},
          {"noisy", time.noisy}};
}

ordered_json verification_json(const Verification& v) {
  return {{"passed", v.passed},         {"elements", v.elements},
          {"mismatches", v.mismatches}, {"max_error", v.max_error},
          {"bound_ratio", v.max_ratio}, {"first_mismatch", v.first_mismatch}};
}

ordered_json tensors_json(const Problem& problem) {
  ordered_json tensors = ordered_json::object();
  for (std::size_t i = 0; i < problem.op.tensors().size(); ++i) {
    const Tensor& tensor = problem.op.tensors()[i];
    tensors[tensor.name] = {{"dtype", to_string(tensor.dtype)},
                            {"layout", to_string(problem.layouts[i])},
                            {"access", to_string(problem.access[i])}};
  }
  return tensors;
}

std::string verification_text(const Verification& v, bool by_cpu) {
  if (v.passed) {
    return fmt::format("{} against {} reference: max error {:.3g}, bound ratio {:.2f}",
                       inked(Ink::green, "verified", stdout), by_cpu ? "the CPU" : "its",
                       v.max_error, v.max_ratio);
  }
  return fmt::format("{}: {} of {} elements are outside their bound; first {}",
                     inked(Ink::red, "WRONG RESULT", stdout), v.mismatches, v.elements,
                     v.first_mismatch);
}

std::string result_text(const Outcome& outcome, const Executor& executor) {
  if (!executor.on_gpu()) {
    const std::string ran = fmt::format(
        "{} in {:.1f} ms ({})", outcome.is_interpreted ? "interpreted" : "ran on the CPU reference",
        outcome.evaluate_ms, executor.no_gpu_reason().empty() ? "as asked" : "no GPU");
    return outcome.verification ? ran + ", " + verification_text(*outcome.verification, false)
                                : ran;
  }
  const std::string where = "launched on " + executor.device_name();
  if (outcome.without_reference) return where + ", not verified (the kernel has no reference)";
  return outcome.verification
             ? where + ", " + verification_text(*outcome.verification, outcome.by_cpu)
             : where + ", not verified (--verify compares with the reference)";
}

Target target_of(const Outcome& outcome) {
  return outcome.artifact ? outcome.artifact->target : Target{};
}

// The costs of the given thread-value layout, beside the plan that it replaces.
std::string tv_text(const Operation& op, const Outcome& outcome) {
  std::string text = "  ";
  for (const char c : describe_plan(op, target_of(outcome))) {
    text += c;
    if (c == '\n') text += "  ";
  }
  text.resize(text.size() - 2);
  return text;
}

std::string benchmark_text(const Benchmark& benchmark, std::int64_t bytes_moved) {
  return fmt::format(
      "median {:.2f} us of {} launches (min {:.2f}, p90 {:.2f}{}), {} moved: {:.0f} GB/s, {:.1f} % "
      "of a device-to-device copy",
      benchmark.kernel.median_ms * 1e3, benchmark.kernel.samples, benchmark.kernel.min_ms * 1e3,
      benchmark.kernel.p90_ms * 1e3, benchmark.kernel.noisy ? ", noisy" : "",
      bytes_text(static_cast<double>(bytes_moved)), benchmark.gigabytes_per_second(bytes_moved),
      benchmark.percent_of_copy());
}

}  // namespace

std::string json_text(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 4> kUnits = {"KB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{:.0f} bytes", bytes);
  std::size_t unit = 0;
  for (bytes /= 1000; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, bytes < 10 ? 2 : 1, kUnits[unit]);
}

ordered_json tuning_json(const Tuning& tuning) {
  const auto spec = ordered_json::parse(to_json(Fused{.tuning = tuning}));
  return spec.value("tuning", ordered_json::object());
}

ordered_json artifact_json(const Artifact& artifact) {
  ordered_json times = ordered_json::object();
  for (const auto& [step, milliseconds] : steps_of(artifact.times)) times[step] = milliseconds;
  return {{"kernel", artifact.kernel_name},
          {"target", to_string(artifact.target)},
          {"key", artifact.key},
          {"tier", to_string(artifact.tier)},
          {"cubin_bytes", artifact.cubin->size()},
          {"milliseconds", std::move(times)},
          {"metadata", ordered_json::parse(*artifact.metadata, nullptr, false)}};
}

std::string artifact_text(const Artifact& artifact) {
  std::string steps;
  for (const auto& [step, milliseconds] : steps_of(artifact.times)) {
    if (milliseconds > 0) {
      fmt::format_to(std::back_inserter(steps), "{}{} {:.2f}", steps.empty() ? "" : ", ", step,
                     milliseconds);
    }
  }
  return fmt::format("{} {} for {}, {}{}\n    ms: {}", artifact.kernel_name,
                     tier_text(artifact.tier), to_string(artifact.target),
                     bytes_text(static_cast<double>(artifact.cubin->size())),
                     resources_text(artifact), steps);
}

ordered_json run_json(const Problem& problem, const Outcome& outcome, const Executor& executor) {
  ordered_json result = {{"name", problem.op.name()},
                         {"device", executor.device_name()},
                         {"symbols", problem.symbols},
                         {"tensors", tensors_json(problem)},
                         {"bytes_moved", problem.bytes_moved}};
  if (outcome.artifact) {
    result["artifact"] = artifact_json(*outcome.artifact);
  } else {
    result["not_compiled"] = outcome.not_compiled;
  }
  if (problem.op.tuning().tv) {
    const auto plan = ordered_json::parse(render_plan(problem.op, target_of(outcome)));
    result["figures"] = plan["figures"];
    result["without_tv"] = plan["without_tv"];
  }
  if (!executor.on_gpu()) {
    result["ran_on"] = "cpu";
    result["no_gpu"] = executor.no_gpu_reason();
    result["evaluate_ms"] = outcome.evaluate_ms;
    result["verification"] = nullptr;  // the reference would be compared with itself
    return result;
  }
  result["ran_on"] = "gpu";
  if (outcome.verification) result["verification"] = verification_json(*outcome.verification);
  if (const auto& benchmark = outcome.benchmark) {
    result["benchmark"] = {
        {"kernel", timing_json(benchmark->kernel)},
        {"copy", timing_json(benchmark->copy)},
        {"argument_sets", benchmark->argument_sets},
        {"gigabytes_per_second", benchmark->gigabytes_per_second(problem.bytes_moved)},
        {"percent_of_copy", benchmark->percent_of_copy()}};
  }
  return result;
}

void say(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

std::string run_heading(const Problem& problem) {
  std::string text = problem.op.name() + "\n";
  for (std::size_t i = 0; i < problem.op.tensors().size(); ++i) {
    const Tensor& tensor = problem.op.tensors()[i];
    text += fmt::format("  {:<5} {} {} {}\n", to_string(problem.access[i]), tensor.name,
                        to_string(tensor.dtype), to_string(problem.layouts[i]));
  }
  return text;
}

std::string run_text(const Problem& problem, const Outcome& outcome, const Executor& executor) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  {}\n",
                 outcome.artifact ? artifact_text(*outcome.artifact)
                                  : "not compiled: " + outcome.not_compiled);
  if (problem.op.tuning().tv) text += tv_text(problem.op, outcome);
  fmt::format_to(out, "  {}\n", result_text(outcome, executor));
  if (outcome.benchmark) {
    fmt::format_to(out, "  {}\n", benchmark_text(*outcome.benchmark, problem.bytes_moved));
  }
  return text;
}

}  // namespace tilejit::cli
