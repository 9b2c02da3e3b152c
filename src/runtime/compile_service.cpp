#include <memory>
#include <utility>

#include "runtime/compiler_impl.hpp"

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

PendingArtifact Compiler::Impl::submit(runtime::Planned planned, runtime::Effort effort,
                                       CompileRequest request) {
  const std::string key = explain(planned, effort).key;
  const auto shared = std::make_shared<const runtime::Planned>(std::move(planned));
  return queue_.submit(key, std::move(request), [this, shared, effort](Priority priority) {
    const auto urgency =
        priority == Priority::foreground ? compile::Urgency::high : compile::Urgency::low;
    return compile(*shared, {.effort = effort, .urgency = urgency});
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

PendingArtifact Compiler::compile_async(const Fused& op, const Target& target,
                                        CompileRequest request) {
  return impl_->submit(impl_->plan(op, target, {}), impl_->effort(), std::move(request));
}

ServiceStats Compiler::service_stats() const {
  return impl_->stats();
}

}  // namespace tilejit
