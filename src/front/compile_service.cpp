#include <memory>
#include <optional>
#include <utility>

#include "front/compiler_impl.hpp"

namespace tilejit {
namespace {

void add_pool(ServiceStats& stats, const compile::PoolCounters& pool) {
  stats.in_process = pool.in_process;
  stats.in_workers = pool.in_workers;
  stats.compiled = pool.compiled;
  stats.workers = pool.workers.alive;
  stats.retries = pool.workers.retries;
  stats.worker_starts = pool.workers.starts;
  stats.worker_restarts = pool.workers.restarts;
  stats.worker_crashes = pool.workers.crashes;
  stats.worker_timeouts = pool.workers.timeouts;
  stats.worker_out_of_memory = pool.workers.out_of_memory;
  stats.worker_rubbish = pool.workers.rubbish;
}

}  // namespace

Artifact Compiler::Impl::work(const front::Planned& planned, front::Effort effort,
                              Priority priority) {
  const auto urgency =
      priority == Priority::foreground ? compile::Urgency::high : compile::Urgency::low;
  Artifact artifact = compile(planned, {.effort = effort, .urgency = urgency});
  requests.count(artifact);
  return artifact;
}

PendingArtifact Compiler::Impl::submit(front::Planned planned, front::Effort effort,
                                       CompileRequest request) {
  const std::string key = explain(planned, effort).key;
  const auto shared = std::make_shared<const front::Planned>(std::move(planned));
  return queue_.submit(key, std::move(request), [this, shared, effort](Priority priority) {
    return work(*shared, effort, priority);
  });
}

PendingArtifact Compiler::Impl::submit(const Operation& op, front::Planned planned,
                                       CompileRequest request) {
  struct Asked {
    Operation op;
    front::Planned planned;
    std::optional<NearestKernel> nearest;  // set if a miss is possible
  };
  const Target& target = planned.plan.target;
  auto nearest = requests.forbidden() ? requests.index().nearest(op, target) : std::nullopt;
  const std::string key = explain(planned, effort()).key;
  const auto asked =
      std::make_shared<const Asked>(Asked{op, std::move(planned), std::move(nearest)});
  return queue_.submit(key, std::move(request), [this, asked](Priority priority) {
    try {
      return work(asked->planned, effort(), priority);
    } catch (const MissError& miss) {
      throw requests.missed(asked->op, miss.target(), miss.why(), asked->nearest);
    }
  });
}

ServiceStats Compiler::Impl::stats() const {
  ServiceStats stats = queue_.stats();
  add_pool(stats, pool_.counters());
  stats.quick_builds = tiers.quick_builds;
  stats.swaps = tiers.swaps;
  stats.swap_failures = tiers.swap_failures;
  return stats;
}

PendingArtifact Compiler::compile_async(const Operation& op, const Target& target,
                                        CompileRequest request) {
  impl_->requests.admit(op, target);
  front::Planned planned = impl_->plan(op, target, request.device);
  PendingArtifact pending = impl_->submit(op, std::move(planned), std::move(request));
  (void)impl_->requests.note(op, target, true);
  return pending;
}

ServiceStats Compiler::service_stats() const {
  return impl_->stats();
}

}  // namespace tilejit
