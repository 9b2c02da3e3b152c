#include <algorithm>

#include "core/json_pointer.hpp"
#include "runtime/internals.hpp"
#include "runtime/kernel_impl.hpp"
#include "runtime/stages.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit {

Kernel::Impl::Impl(std::shared_ptr<const runtime::Library> loaded, Artifact compiled,
                   const Fused& operation, const spec::Analysis& analysis, const plan::Plan& plan)
    : threads(static_cast<unsigned>(plan.threads)),
      shared_bytes(static_cast<unsigned>(plan::dynamic_shared_bytes(plan))),
      launching(runtime::range_name("launch", compiled.kernel_name)),
      library(std::move(loaded)),
      partials_bytes(plan::partials_bytes(plan)),
      needs_memory(partials_bytes > 0 || !plan.stages.empty()),
      binder(operation, analysis, plan),
      artifact(std::move(compiled)),
      light(plan.light),
      op(operation),
      cluster(plan.rows ? plan.rows->cluster : 1) {
  const auto most_blocks = static_cast<unsigned>(library->context->limits().grid_x);
  if (!needs_memory) plain = runtime::PlainBinder::make(binder, most_blocks);
  if (!plan.stages.empty()) {
    stages = std::make_unique<const runtime::Stages>(*library, artifact, op, analysis, plan);
  }
  if (partials_bytes == 0) return;
  const auto param =
      std::ranges::find(plan.params, plan::Param::Kind::partials, &plan::Param::kind);
  partials_offset = param->offset;
  partials = std::make_unique<const runtime::StreamMemories>(
      library->context, static_cast<std::size_t>(partials_bytes), plan.rows->atomics);
  if (plan.rows->atomics) return;
  combining_blocks = static_cast<unsigned>(plan::combining_blocks(plan));
  combining_threads = static_cast<unsigned>(plan::combining_threads(plan));
}

Kernel::Impl::~Impl() = default;

void Kernel::Impl::replace(std::shared_ptr<const Impl> full) const {
  full_owner_ = std::move(full);
  full_.store(full_owner_.get(), std::memory_order_release);
}

KernelInfo Kernel::Impl::info() const {
  if (stages) return stages->info();
  const driver::Table& driver = library->context->driver();
  const driver::ContextScope scope(*library->context);
  const auto attribute = [&](CUfunction_attribute which) {
    int value = 0;
    driver::check(driver, driver.cuFuncGetAttribute_(&value, which, library->entry),
                  "cuFuncGetAttribute");
    return value;
  };
  KernelInfo info{.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
                  .local_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                  .shared_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) +
                                  static_cast<int>(shared_bytes),
                  .threads = static_cast<int>(threads)};
  driver::check(driver,
                driver.cuOccupancyMaxActiveBlocksPerMultiprocessor_(
                    &info.blocks_per_sm, library->entry, info.threads, shared_bytes),
                "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return info;
}

void Kernel::launch(Stream stream, std::span<const Argument> args) const {
  impl_->current().launch(stream, args, bound_.get());
}

SymbolValues runtime::Internals::completed(const SymbolValues& bound, const SymbolValues& symbols) {
  SymbolValues all = bound;
  for (const auto& [name, value] : symbols) {
    if (all.emplace(name, value).second) continue;
    throw Error(ErrorCode::invalid_argument,
                "the operation has no symbol '" + name + "'; leave it out",
                core::pointer_to("/symbols", name));
  }
  return all;
}

void Kernel::launch(Stream stream, std::span<const Argument> args,
                    const SymbolValues& symbols) const {
  if (!bound_) return impl_->current().launch(stream, args, &symbols);
  const SymbolValues all = runtime::Internals::completed(*bound_, symbols);
  impl_->current().launch(stream, args, &all);
}

void Kernel::launch(Stream stream, std::span<const Argument> args, const SymbolValues& symbols,
                    const LaunchOptions& options) const {
  if (!bound_) return impl_->current().launch(stream, args, &symbols, options);
  const SymbolValues all = runtime::Internals::completed(*bound_, symbols);
  impl_->current().launch(stream, args, &all, options);
}

BoundLaunch Kernel::bind(std::span<const Argument> args, const SymbolValues& symbols,
                         const LaunchOptions& options) const {
  using runtime::Internals;
  if (!bound_) return Internals::make_bound(*this, args, symbols, options);
  return Internals::make_bound(*this, args, Internals::completed(*bound_, symbols), options);
}

BoundLaunch Kernel::bind(std::initializer_list<Argument> args, const SymbolValues& symbols,
                         const LaunchOptions& options) const {
  return bind(std::span<const Argument>(args.begin(), args.size()), symbols, options);
}

const Artifact& Kernel::artifact() const noexcept {
  return impl_->current().artifact;
}

const Fused& Kernel::op() const noexcept {
  return impl_->op;
}

KernelInfo Kernel::info() const {
  return impl_->current().info();
}

}  // namespace tilejit
