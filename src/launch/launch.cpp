// How a kernel reaches the driver.

#include <algorithm>
#include <array>
#include <cstring>

#include "launch/kernel_impl.hpp"
#include "launch/stages.hpp"
#include "memory/stream_memory.hpp"

namespace tilejit {
namespace {

using launch::Grid;
using launch::LaunchAttributes;
using memory::StreamMemory;

/// The parameter struct is one parameter, passed by value: the driver copies it and writes nothing.
std::array<void*, 1> values_of(const std::byte* params) noexcept {
  return {const_cast<std::byte*>(params)};
}

CUresult launch_kernel(const driver::Table& driver, CUstream stream,
                       const Kernel::Impl::Shape& shape, const std::byte* params,
                       std::span<const CUlaunchAttribute> attributes) {
  CUlaunchConfig config{};
  config.gridDimX = shape.blocks;
  config.blockDimX = shape.threads;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream;
  config.attrs = const_cast<CUlaunchAttribute*>(attributes.data());  // only read
  config.numAttrs = static_cast<unsigned>(attributes.size());
  auto values = values_of(params);
  return driver.cuLaunchKernelEx_(&config, shape.function, values.data(), nullptr);
}

}  // namespace

void Kernel::Impl::launch(Stream stream, std::span<const Argument> args,
                          const SymbolValues* symbols) const {
  alignas(16) std::array<std::byte, launch::kMaxParamBytes> params;  // written as far as it is used
  const bool names_symbols = symbols != nullptr && !symbols->empty();
  if (plain && !names_symbols && plain->bind(args, params)) [[likely]]
    return launch_resident(stream, plain->grid(), params.data());
  Grid grid = binder.bind(args, symbols, params);
  if (grid.blocks == 0) return;
  grid = launched(grid);
  if (needs_memory) return launch_with_memory(stream, grid, params.data(), {});
  submit_checked("cuLaunchKernel", [&] { return submit(stream, grid, params.data()); });
}

void Kernel::Impl::launch(Stream stream, std::span<const Argument> args,
                          const SymbolValues* symbols, const LaunchOptions& options) const {
  if (options == LaunchOptions{}) return launch(stream, args, symbols);
  alignas(16) std::array<std::byte, launch::kMaxParamBytes> params;
  Grid grid = binder.bind(args, symbols, params);
  if (grid.blocks == 0) return;
  grid = launched(grid);
  check_options(grid, options);
  launch_params(stream, grid, params.data(), LaunchAttributes(options));
}

void Kernel::Impl::launch_resident(Stream stream, Grid grid, const std::byte* params) const {
  if (const unsigned most = library->most_blocks; most != 0) {
    grid.blocks = std::min(grid.blocks, most);
  }
  submit_checked("cuLaunchKernel", [&] { return submit(stream, grid, params); });
}

void Kernel::Impl::launch_params(Stream stream, Grid grid, const std::byte* params,
                                 const LaunchAttributes& attributes) const {
  if (needs_memory) return launch_with_memory(stream, grid, params, attributes);
  if (attributes.is_plain()) [[likely]] {
    return submit_checked("cuLaunchKernel", [&] { return submit(stream, grid, params); });
  }
  submit_checked("cuLaunchKernelEx", [&] { return submit(stream, grid, params, attributes); });
}

void Kernel::Impl::launch_with_memory(Stream stream, Grid grid, const std::byte* params,
                                      const LaunchAttributes& attributes) const {
  const front::ProfilerRange range(launching);
  if (stages) return stages->launch(stream, params, attributes);
  const driver::Table& driver = library->context->driver();
  const driver::ContextScope scope(*library->context);
  alignas(16) std::array<std::byte, launch::kMaxParamBytes> own;
  std::memcpy(own.data(), params, binder.param_bytes());
  const auto launch_at = [&](CUdeviceptr address, std::span<const CUlaunchAttribute> list) {
    std::memcpy(own.data() + partials_offset, &address, sizeof address);
    driver::check(
        driver,
        launch_kernel(driver, stream, shape(grid, attributes.shared_bytes()), own.data(), list),
        "cuLaunchKernelEx");
    if (combining_blocks > 0) combine(stream, own.data(), attributes);
  };
  if (const CUdeviceptr of_stream = partials->of(stream); of_stream != 0) {
    return launch_at(of_stream, attributes.all());
  }
  const StreamMemory memory(driver, library->pool.get(), partials_bytes, stream);
  if (counts_blocks()) {
    driver::check(driver,
                  driver.cuMemsetD8Async_(memory.address(), 0,
                                          static_cast<std::size_t>(partials_bytes), stream),
                  "cuMemsetD8Async");
  }
  launch_at(memory.address(), attributes.of_node());  // behind an allocation nothing overlaps
}

void Kernel::Impl::combine(Stream stream, const std::byte* params,
                           const LaunchAttributes& attributes) const {
  const driver::Table& driver = library->context->driver();
  // The second kernel starts while the first one ends, and waits for it by an instruction that
  // devices before sm_90 do not have.
  LaunchAttributes second;
  if (artifact.target.major >= 9) second.add(launch::overlap_attribute());
  for (const CUlaunchAttribute& attribute : attributes.all()) {
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PRIORITY) second.add(attribute);
  }
  driver::check(driver, launch_kernel(driver, stream, combining_shape(), params, second.all()),
                "cuLaunchKernelEx");
}

std::shared_ptr<const memory::DeviceMemory> Kernel::Impl::make_partials() const {
  auto memory = std::make_shared<const memory::DeviceMemory>(
      library->context, static_cast<std::size_t>(partials_bytes));
  if (counts_blocks()) memory->clear();
  return memory;
}

Kernel::Impl::Shape Kernel::Impl::shape(Grid grid, int extra_shared_bytes) const noexcept {
  return {.function = grid.wide ? library->second : library->entry,
          .blocks = grid.blocks,
          .threads = threads,
          .shared_bytes = shared_bytes + static_cast<unsigned>(extra_shared_bytes)};
}

Kernel::Impl::Shape Kernel::Impl::combining_shape() const noexcept {
  return {.function = library->second, .blocks = combining_blocks, .threads = combining_threads};
}

CUresult Kernel::Impl::submit(Stream stream, Grid grid, const std::byte* params) const {
  auto values = values_of(params);
  const Shape what = shape(grid, 0);
  return library->context->driver().cuLaunchKernel_(what.function, what.blocks, 1, 1, what.threads,
                                                    1, 1, what.shared_bytes, stream, values.data(),
                                                    nullptr);
}

CUresult Kernel::Impl::submit(Stream stream, Grid grid, const std::byte* params,
                              const LaunchAttributes& attributes) const {
  return launch_kernel(library->context->driver(), stream, shape(grid, attributes.shared_bytes()),
                       params, attributes.all());
}

template <typename Submit>
void Kernel::Impl::submit_checked(const char* call, Submit submit) const {
  const front::ProfilerRange range(launching);
  CUresult result = submit();
  if (result == CUDA_SUCCESS) [[likely]]
    return;
  // No context in this thread, or a destroyed one. Asking first would cost every launch a call.
  if (result == CUDA_ERROR_INVALID_CONTEXT) {
    const driver::ContextScope scope(*library->context);
    result = submit();
  }
  driver::check(library->context->driver(), result, call);
}

}  // namespace tilejit
