#include <array>

#include "runtime/kernel_impl.hpp"

namespace tilejit {

Kernel::Impl::Impl(std::shared_ptr<const runtime::Library> loaded, Artifact compiled,
                   const Fused& operation, const spec::Analysis& analysis, const plan::Plan& plan)
    : library(std::move(loaded)),
      artifact(std::move(compiled)),
      op(operation),
      binder(operation, analysis, plan),
      threads(static_cast<unsigned>(plan.threads)) {}

void Kernel::Impl::launch(Stream stream, std::span<const Argument> args,
                          const SymbolValues* symbols) const {
  alignas(16) std::array<std::byte, runtime::kMaxParamBytes>
      params;  // written as far as it is used
  const runtime::Grid grid = binder.bind(args, symbols, params);
  if (grid.blocks == 0) return;
  const CUresult result = submit(stream, grid, params.data());
  if (result == CUDA_SUCCESS) [[likely]]
    return;
  // No context in this thread, or a destroyed one. Asking first would cost every launch a call.
  if (result == CUDA_ERROR_INVALID_CONTEXT) return submit_in_context(stream, grid, params.data());
  driver::check(library->context->driver(), result, "cuLaunchKernel");
}

CUresult Kernel::Impl::submit(Stream stream, runtime::Grid grid, std::byte* params) const {
  // The parameter struct is one parameter, passed by value.
  std::array<void*, 1> values = {params};
  const CUfunction function = grid.wide ? library->wide_entry : library->entry;
  return library->context->driver().cuLaunchKernel_(function, grid.blocks, 1, 1, threads, 1, 1, 0,
                                                    stream, values.data(), nullptr);
}

void Kernel::Impl::submit_in_context(Stream stream, runtime::Grid grid, std::byte* params) const {
  const driver::ContextScope scope(*library->context);
  driver::check(library->context->driver(), submit(stream, grid, params), "cuLaunchKernel");
}

KernelInfo Kernel::Impl::info() const {
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
                  .shared_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                  .threads = static_cast<int>(threads)};
  driver::check(driver,
                driver.cuOccupancyMaxActiveBlocksPerMultiprocessor_(
                    &info.blocks_per_sm, library->entry, info.threads, 0),
                "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return info;
}

void Kernel::launch(Stream stream, std::span<const Argument> args) const {
  impl_->launch(stream, args, nullptr);
}

void Kernel::launch(Stream stream, std::span<const Argument> args,
                    const SymbolValues& symbols) const {
  impl_->launch(stream, args, &symbols);
}

const Artifact& Kernel::artifact() const noexcept {
  return impl_->artifact;
}

const Fused& Kernel::op() const noexcept {
  return impl_->op;
}

KernelInfo Kernel::info() const {
  return impl_->info();
}

}  // namespace tilejit
