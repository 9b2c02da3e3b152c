#include "kernels/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "common/progress.hpp"
#include "common/sentence.hpp"
#include "kernels/report.hpp"
#include "kernels/verification.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

bool same_bytes(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  return std::ranges::equal(a, b, [](const HostTensor& x, const HostTensor& y) {
    return x.size_bytes() == y.size_bytes() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
  });
}

// Kernels that several threads compile while one thread waits for the results.
class Batch {
 public:
  Batch(Compiler& compiler, const std::vector<Operation>& ops, const Target& target)
      : compiler_(compiler),
        ops_(ops),
        target_(target),
        compiled_(ops.size()),
        ready_(ops.size()) {}

  void work() {
    for (std::size_t i = next_++; i < ops_.size(); i = next_++) {
      Compiled one = compile(ops_[i]);
      const std::lock_guard lock(mutex_);
      compiled_[i] = std::move(one);
      ready_[i] = true;
      ++done_;
      wake_.notify_one();
    }
  }

  const Compiled& wait_for(std::size_t i, Progress& progress) {
    std::unique_lock lock(mutex_);
    while (!ready_[i]) {
      progress.show({.done = done_, .failed = 0, .total = ops_.size(), .now = ops_[i].name()});
      wake_.wait_for(lock, std::chrono::milliseconds(100));
    }
    return compiled_[i];
  }

 private:
  Compiled compile(const Operation& op) {
    try {
      return {.artifact = compiler_.compile(op, target_), .failure = {}};
    } catch (const std::exception& error) {
      return {.artifact = {}, .failure = error.what()};
    }
  }

  Compiler& compiler_;
  const std::vector<Operation>& ops_;
  const Target target_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;  // guards the members below; an element stays unchanged once it is ready
  std::condition_variable wake_;
  std::vector<Compiled> compiled_;
  std::vector<char> ready_;
  std::size_t done_ = 0;
};

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
  const auto verification = verify_results(runtime_, problem_, results);
  if (verification && !verification->passed) {
    throw Error(ErrorCode::compile_failed,
                fmt::format("wrong result: {} of {} elements are outside their bound; first {}",
                            verification->mismatches, verification->elements,
                            verification->first_mismatch));
  }
  if (verified_.empty()) verified_ = std::move(results);
}

std::vector<Operation> with_knobs(const Operation& op, const std::vector<Tuning>& candidates) {
  std::vector<Operation> ops;
  for (const Tuning& tuning : candidates) ops.push_back(op.with_tuning(tuning));
  return ops;
}

void compile_all(Compiler& compiler, const std::vector<Operation>& ops, const Target& target,
                 int jobs, const Landed& landed) {
  (void)compiler.nvrtc();
  Batch batch(compiler, ops, target);
  std::vector<std::jthread> workers;
  for (int i = 0; i < std::min(jobs, static_cast<int>(ops.size())); ++i) {
    workers.emplace_back([&] { batch.work(); });
  }
  Progress progress(false);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Compiled& compiled = batch.wait_for(i, progress);
    progress.end();
    landed(i, compiled);
  }
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
