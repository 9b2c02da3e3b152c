#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

#include "front/compiler_impl.hpp"
#include "front/stopwatch.hpp"
#include "launch/internals.hpp"
#include "launch/runtime_impl.hpp"

namespace tilejit {
namespace {

using launch::Internals;

/// One kernel for all devices that are alike.
struct Wanted {
  std::optional<front::Planned> planned = {};
  PendingArtifact pending = {};
  std::exception_ptr error = {};  // from planning or submitting
};

Wanted ask(Runtime& runtime, const Operation& op, const CompileRequest& request) {
  Wanted wanted;
  try {
    const DeviceInfo& device = runtime.device();
    auto& compiler = Internals::open(runtime.compiler());
    compiler.requests.admit(op, device.target);
    wanted.planned = compiler.plan(op, device.target, device.name);
    wanted.pending = compiler.submit(op, *wanted.planned, request);
  } catch (...) {
    wanted.error = std::current_exception();
  }
  return wanted;
}

std::vector<Wanted> ask_all(Runtime& runtime, std::span<const Operation> ops,
                            const CompileRequest& request) {
  std::vector<Wanted> all;
  std::ranges::transform(ops, std::back_inserter(all),
                         [&](const Operation& op) { return ask(runtime, op, request); });
  return all;
}

bool alike(const DeviceInfo& a, const DeviceInfo& b) {
  return a.target == b.target && a.name == b.name;
}

/// The index of the first Runtime whose device is like that of number `i`.
std::size_t first_alike(std::span<Runtime* const> runtimes, std::size_t i) {
  const auto found = std::ranges::find_if(runtimes, [&](const Runtime* other) {
    return alike(other->device(), runtimes[i]->device());
  });
  return static_cast<std::size_t>(found - runtimes.begin());
}

/// Makes what another Runtime's compiler has built available in this one's cache.
void share(cache::Store& store, const Artifact& artifact) {
  if (store.find(artifact.key)) return;
  store.put(artifact.key, {.payload = *artifact.cubin, .metadata = *artifact.metadata});
}

Kernel load(Runtime& runtime, const Operation& op, const Wanted& wanted) {
  if (wanted.error) std::rethrow_exception(wanted.error);
  Artifact artifact = wanted.pending.get();
  const front::Stopwatch watch;
  const operation::Plan& plan = wanted.planned->plan;
  const operation::LaunchPlan launch = plan.body->launch();
  auto library = Internals::open(runtime).libraries.find_or_load(artifact, launch);
  artifact.times.load = watch.milliseconds();
  Kernel kernel = Internals::make_kernel(std::move(library), std::move(artifact), op, plan, launch);
  auto& impl = Internals::open(runtime);
  const auto number = Internals::open(impl.compiler).requests.note(op, impl.device.target, true);
  if (number) impl.known.add(*number, kernel);
  return kernel;
}

}  // namespace

std::vector<std::vector<Kernel>> prepare(std::span<Runtime* const> runtimes,
                                         std::span<const Operation> ops,
                                         const CompileRequest& request) {
  std::vector<std::vector<Wanted>> wanted(runtimes.size());
  for (std::size_t i = 0; i < runtimes.size(); ++i) {
    if (first_alike(runtimes, i) == i) wanted[i] = ask_all(*runtimes[i], ops, request);
  }
  std::vector<std::vector<Kernel>> kernels(runtimes.size());
  std::exception_ptr first_error;
  for (std::size_t i = 0; i < runtimes.size(); ++i) {
    const std::size_t maker = first_alike(runtimes, i);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      try {
        const Wanted& one = wanted[maker][k];
        kernels[i].push_back(load(*runtimes[i], ops[k], one));
        if (i != maker) share(runtimes[i]->compiler().cache(), one.pending.get());
      } catch (...) {
        if (!first_error) first_error = std::current_exception();
      }
    }
  }
  if (first_error) std::rethrow_exception(first_error);
  return kernels;
}

std::vector<Kernel> Runtime::prepare(std::span<const Operation> ops,
                                     const CompileRequest& request) {
  Runtime* const self = this;
  return std::move(tilejit::prepare(std::span(&self, 1), ops, request).front());
}

}  // namespace tilejit
