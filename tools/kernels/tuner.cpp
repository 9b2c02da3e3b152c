#include "kernels/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/sentence.hpp"
#include "kernels/report.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

bool same_bytes(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  return std::ranges::equal(a, b, [](const HostTensor& x, const HostTensor& y) {
    return x.size_bytes() == y.size_bytes() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
  });
}

}  // namespace

Tuner::Tuner(Runtime& runtime, const Problem& problem) : runtime_(runtime), problem_(problem) {}

double Tuner::milliseconds(const Operation& op) {
  const Kernel kernel = runtime_.compile(op);
  runtime_.make_current();
  {
    const DeviceArguments device = upload(runtime_, problem_);
    kernel.launch(nullptr, device.arguments, problem_.symbols);
    verify_result(download(problem_, device));
  }
  if (!workspaces_) workspaces_ = make_workspaces(runtime_, problem_);
  return time_launches(runtime_, kernel, workspaces_->arguments(), problem_.symbols).median_ms;
}

void Tuner::verify_result(std::vector<HostTensor> results) {
  if (!verified_.empty() && same_bytes(results, verified_)) return;
  const Verification verification = check(problem_, results);
  if (!verification.passed) {
    throw Error(
        ErrorCode::compile_failed,
        fmt::format("wrong result: {} of {} elements are outside their bound; first {}",
                    verification.mismatches, verification.elements, verification.first_mismatch));
  }
  if (verified_.empty()) verified_ = std::move(results);
}

std::vector<Operation> with_knobs(const Operation& op, const std::vector<Tuning>& candidates) {
  std::vector<Operation> ops;
  for (const Tuning& tuning : candidates) ops.push_back(op.with_tuning(tuning));
  return ops;
}

std::vector<Compiled> compile_all(Compiler& compiler, const std::vector<Operation>& ops,
                                  const Target& target, int jobs) {
  (void)compiler.nvrtc();
  std::vector<Compiled> compiled(ops.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < ops.size(); i = next++) {
      try {
        compiled[i].artifact = compiler.compile(ops[i], target);
      } catch (const std::exception& error) {
        compiled[i].failure = error.what();
      }
    }
  };
  std::vector<std::jthread> workers;
  for (int i = 1; i < std::min(jobs, static_cast<int>(ops.size())); ++i) workers.emplace_back(work);
  work();
  workers.clear();  // joins
  return compiled;
}

std::string knobs_text(const Tuning& tuning) {
  std::string text;
  const nlohmann::ordered_json knobs = tuning_json(tuning);
  for (const auto& [name, value] : knobs.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value.dump());
  }
  return text.empty() ? "as planned" : text;
}

}  // namespace tilejit::cli
