// CompileEffort::tiered: launches the quick build of a kernel until the full build is ready.
#include <memory>
#include <string>
#include <utility>

#include "front/compiler_impl.hpp"
#include "front/log.hpp"
#include "front/stopwatch.hpp"
#include "launch/internals.hpp"
#include "launch/runtime_impl.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

bool is_tiered(const Options& options) noexcept {
  return options.compile_effort == CompileEffort::tiered && !options.deterministic;
}

}  // namespace

Internals::FirstBuild Internals::first_build(Compiler& compiler, const Operation& op,
                                             const front::Planned& planned) {
  Compiler::Impl& impl = open(compiler);
  if (!is_tiered(impl.options)) {
    return {impl.compile(planned, {.effort = impl.effort()}), planned.plan};
  }
  if (auto full = impl.find(planned, front::Effort::full)) {
    return {*std::move(full), planned.plan};
  }
  front::Planned first = planned;
  if (auto light = op.descriptor().light_plan(planned.plan)) {
    first.plan = *std::move(light);
  }
  Artifact quick = impl.compile(first, {.effort = front::Effort::quick});
  ++impl.tiers.quick_builds;
  return {std::move(quick), first.plan, true};
}

void Internals::replace_later(Runtime::Impl& runtime, const Kernel& kernel,
                              const front::Planned& planned) {
  Compiler::Impl& compiler = open(runtime.compiler);
  const auto fail = [&compiler](const Error& error) {
    front::warn(std::string("a kernel stays the quick build it is: ") + error.what());
    ++compiler.tiers.swap_failures;
  };
  // Everything that it refers to outlives the compiler's threads.
  const auto replace = [&runtime, &compiler, fail, planned,
                        weak = std::weak_ptr(kernel.impl_)](CompileState state) {
    const auto impl = weak.lock();
    const bool ended = state == CompileState::done || state == CompileState::failed;
    if (!impl || !ended) return;
    try {
      // Found in memory.
      Artifact full = compiler.compile(planned, {.urgency = compile::Urgency::low});
      const front::Stopwatch watch;
      const operation::LaunchPlan launch = planned.plan.body->launch();
      auto library = runtime.libraries.find_or_load(full, launch);
      full.times.load = watch.milliseconds();
      auto build = std::make_shared<Kernel::Impl>(std::move(library), std::move(full), impl->op,
                                                  planned.plan, launch);
      build->fills_in = !impl->light;
      impl->replace(std::move(build));
      ++compiler.tiers.swaps;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::cancelled) fail(error);
    }
  };
  try {
    (void)compiler.submit(
        planned, front::Effort::full,
        {.priority = Priority::background, .progress = replace, .when_full = WhenFull::refuse});
  } catch (const Error& error) {
    fail(error);
  }
}

}  // namespace tilejit::launch
