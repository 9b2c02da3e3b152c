#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/kernel_impl.hpp"

namespace tilejit {
namespace {

/// Memory between two points of a stream.
class StreamMemory {
 public:
  StreamMemory(const driver::Table& driver, CUmemoryPool pool, std::int64_t bytes, CUstream stream)
      : driver_(driver), stream_(stream) {
    driver::check(
        driver_,
        driver_.cuMemAllocFromPoolAsync_(&address_, static_cast<std::size_t>(bytes), pool, stream_),
        "cuMemAllocFromPoolAsync");
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() { driver_.cuMemFreeAsync_(address_, stream_); }
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

 private:
  const driver::Table& driver_;
  CUstream stream_;
  CUdeviceptr address_ = 0;
};

}  // namespace

Kernel::Impl::Impl(std::shared_ptr<const runtime::Library> loaded, Artifact compiled,
                   const Fused& operation, const spec::Analysis& analysis, const plan::Plan& plan)
    : library(std::move(loaded)),
      artifact(std::move(compiled)),
      latest(std::make_shared<const Artifact>(artifact)),
      op(operation),
      binder(operation, analysis, plan),
      threads(static_cast<unsigned>(plan.threads)),
      shared_bytes(static_cast<unsigned>(plan::dynamic_shared_bytes(plan))),
      partials_bytes(plan::partials_bytes(plan)) {
  if (partials_bytes == 0) return;
  const auto param =
      std::ranges::find(plan.params, plan::Param::Kind::partials, &plan::Param::kind);
  partials_offset = param->offset;
  combining_blocks = static_cast<unsigned>(plan::combining_blocks(plan));
}

void Kernel::Impl::launch(Stream stream, std::span<const Argument> args,
                          const SymbolValues* symbols) const {
  alignas(16) std::array<std::byte, runtime::kMaxParamBytes>
      params;  // written as far as it is used
  runtime::Grid grid = binder.bind(args, symbols, params);
  if (grid.blocks == 0) return;
  if (library->most_blocks != 0) grid.blocks = std::min(grid.blocks, library->most_blocks);
  if (partials_bytes > 0) return launch_with_partials(stream, grid, params.data());
  const CUresult result = submit(stream, grid, params.data());
  if (result == CUDA_SUCCESS) [[likely]]
    return;
  // No context in this thread, or a destroyed one. Asking first would cost every launch a call.
  if (result == CUDA_ERROR_INVALID_CONTEXT) return submit_in_context(stream, grid, params.data());
  driver::check(library->context->driver(), result, "cuLaunchKernel");
}

void Kernel::Impl::launch_with_partials(Stream stream, runtime::Grid grid,
                                        std::byte* params) const {
  const driver::Table& driver = library->context->driver();
  const driver::ContextScope scope(*library->context);
  const StreamMemory memory(driver, library->pool.get(), partials_bytes, stream);
  const CUdeviceptr address = memory.address();
  std::memcpy(params + partials_offset, &address, sizeof address);
  std::array<void*, 1> values = {params};
  driver::check(driver,
                driver.cuLaunchKernel_(library->entry, grid.blocks, 1, 1, threads, 1, 1, 0, stream,
                                       values.data(), nullptr),
                "cuLaunchKernel");
  // The second kernel starts while the first one ends, and waits for it by an instruction that
  // devices before sm_90 do not have.
  CUlaunchAttribute overlap{};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = combining_blocks;
  config.blockDimX = threads;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = &overlap;
  config.numAttrs = artifact.target.major >= 9 ? 1 : 0;
  driver::check(driver, driver.cuLaunchKernelEx_(&config, library->second, values.data(), nullptr),
                "cuLaunchKernelEx");
}

CUresult Kernel::Impl::submit(Stream stream, runtime::Grid grid, std::byte* params) const {
  // The parameter struct is one parameter, passed by value.
  std::array<void*, 1> values = {params};
  const CUfunction function = grid.wide ? library->second : library->entry;
  return library->context->driver().cuLaunchKernel_(function, grid.blocks, 1, 1, threads, 1, 1,
                                                    shared_bytes, stream, values.data(), nullptr);
}

void Kernel::Impl::submit_in_context(Stream stream, runtime::Grid grid, std::byte* params) const {
  const driver::ContextScope scope(*library->context);
  driver::check(library->context->driver(), submit(stream, grid, params), "cuLaunchKernel");
}

void Kernel::Impl::replace(std::shared_ptr<const runtime::Library> full_library,
                           Artifact full) const {
  latest.replace(std::make_shared<const Artifact>(std::move(full)));
  library.replace(std::move(full_library));
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
  impl_->launch(stream, args, bound_.get());
}

void Kernel::launch(Stream stream, std::span<const Argument> args,
                    const SymbolValues& symbols) const {
  if (!bound_) return impl_->launch(stream, args, &symbols);
  SymbolValues all = *bound_;
  for (const auto& [name, value] : symbols) {
    if (all.emplace(name, value).second) continue;
    throw Error(ErrorCode::invalid_argument,
                "the operation has no symbol '" + name + "'; leave it out", "/symbols/" + name);
  }
  impl_->launch(stream, args, &all);
}

const Artifact& Kernel::artifact() const noexcept {
  return *impl_->latest;
}

const Fused& Kernel::op() const noexcept {
  return impl_->op;
}

KernelInfo Kernel::info() const {
  return impl_->info();
}

}  // namespace tilejit
