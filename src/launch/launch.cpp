// Passes a kernel to the driver.

#include <algorithm>
#include <array>
#include <cstring>

#include "launch/kernel_impl.hpp"
#include "memory/stream_memory.hpp"

namespace tilejit {
namespace {

using launch::Grid;
using launch::LaunchAttributes;
using memory::StreamMemory;

CUresult launch_kernel(const driver::Table& driver, CUstream stream,
                       const Kernel::Impl::Shape& shape, const std::byte* params,
                       std::span<const CUlaunchAttribute> attributes) {
  CUlaunchConfig config{};
  config.gridDimX = shape.blocks;
  config.gridDimY = shape.blocks_y;
  config.gridDimZ = shape.blocks_z;
  config.blockDimX = shape.threads;
  config.blockDimY = shape.threads_y;
  config.blockDimZ = shape.threads_z;
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream;
  config.attrs = const_cast<CUlaunchAttribute*>(attributes.data());  // the driver only reads them
  config.numAttrs = static_cast<unsigned>(attributes.size());
  if (shape.fields != nullptr) {
    std::vector<void*> values = Kernel::Impl::values_of(shape, params);
    return driver.cuLaunchKernelEx_(&config, shape.function, values.data(), nullptr);
  }
  void* value = const_cast<std::byte*>(params);  // the driver copies it and writes nothing
  return driver.cuLaunchKernelEx_(&config, shape.function, &value, nullptr);
}

}  // namespace

void Kernel::Impl::launch(Stream stream, std::span<const Argument> args,
                          const SymbolValues* symbols) const {
  if (symbols == nullptr || symbols->empty()) [[likely]] {
    // Initialised only as far as it is used.
    alignas(16) std::array<std::byte, launch::BindProgram::kMaxParamBytes> params;
    if (program.bind(args, params) != 0) [[likely]]
      return launch_resident(stream, known_grid, params.data());
  }
  launch_checked(stream, args, symbols);
}

[[gnu::noinline]] void Kernel::Impl::launch_checked(Stream stream, std::span<const Argument> args,
                                                    const SymbolValues* symbols) const {
  launch::ParamSpace space(binder.param_bytes(), binder.step_count());
  const launch::BoundParams bound = binder.bind(args, symbols, space);
  if (!bound.any()) return;
  limit(space.grids());
  launch_bound(stream, bound, {});
}

void Kernel::Impl::launch(Stream stream, std::span<const Argument> args,
                          const SymbolValues* symbols, const LaunchOptions& options) const {
  if (options == LaunchOptions{}) return launch(stream, args, symbols);
  launch::ParamSpace space(binder.param_bytes(), binder.step_count());
  const launch::BoundParams bound = binder.bind(args, symbols, space);
  if (!bound.any()) return;
  limit(space.grids());
  check_options(bound.grids, options);
  launch_bound(stream, bound, LaunchAttributes(options));
}

void Kernel::Impl::launch_resident(Stream stream, Grid grid, const std::byte* params) const {
  if (first.most_blocks != 0) grid.blocks = std::min(grid.blocks, first.most_blocks);
  submit_checked("cuLaunchKernel", [&] { return submit_first(stream, grid, 0, params); });
}

void Kernel::Impl::launch_bound(Stream stream, const launch::BoundParams& bound,
                                const LaunchAttributes& attributes) const {
  if (!is_simple) return launch_steps(stream, bound, attributes);
  if (attributes.is_plain()) [[likely]] {
    return submit_checked("cuLaunchKernel", [&] {
      return submit_first(stream, bound.grids[0], attributes.shared_bytes(), bound.params);
    });
  }
  const Shape what = shape(0, bound.grids[0], attributes.shared_bytes());
  submit_checked("cuLaunchKernelEx", [&] {
    return launch_kernel(library->context->driver(), stream, what, bound.params, attributes.all());
  });
}

void Kernel::Impl::launch_steps(Stream stream, const launch::BoundParams& bound,
                                const LaunchAttributes& attributes) const {
  const front::ProfilerRange range(launching);
  const driver::Table& driver = library->context->driver();
  const driver::ContextScope scope(*library->context);
  if (bound.workspace_bytes == 0) {
    return submit_steps(stream, bound.grids, bound.params, attributes, attributes.all());
  }
  launch::ParamSpace space(binder.param_bytes(), binder.step_count());
  const auto launch_at = [&](CUdeviceptr address, std::span<const CUlaunchAttribute> of_first) {
    place_workspaces(bound.params, address, space.params());
    submit_steps(stream, bound.grids, space.params().data(), attributes, of_first);
  };
  if (const CUdeviceptr kept = kept_ ? kept_->of(stream) : 0; kept != 0) {
    return launch_at(kept, attributes.all());
  }
  const StreamMemory memory(driver, library->context->pool(), bound.workspace_bytes, stream);
  if (clears_) {
    const auto bytes = static_cast<std::size_t>(bound.workspace_bytes);
    driver::check(driver, driver.cuMemsetD8Async_(memory.address(), 0, bytes, stream),
                  "cuMemsetD8Async");
  }
  // Without overlap, since an allocation comes first.
  launch_at(memory.address(), attributes.of_node());
}

void Kernel::Impl::submit_steps(Stream stream, std::span<const Grid> grids, const std::byte* params,
                                const LaunchAttributes& attributes,
                                std::span<const CUlaunchAttribute> of_first) const {
  const driver::Table& driver = library->context->driver();
  bool is_first = true;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    if (grids[i].blocks == 0) continue;
    LaunchAttributes own;
    if (!is_first && step(i).overlaps_previous) own.add(launch::overlap_attribute());
    for (const CUlaunchAttribute& attribute : attributes.all()) {
      if (!is_first && attribute.id == CU_LAUNCH_ATTRIBUTE_PRIORITY) own.add(attribute);
    }
    const Shape what = shape(i, grids[i], is_first ? attributes.shared_bytes() : 0);
    const std::byte* const of_step = params + binder.param_offset(i);
    const auto list = is_first ? of_first : own.all();
    if (list.empty()) {
      driver::check(driver, submit(stream, what, of_step), "cuLaunchKernel");
    } else {
      driver::check(driver, launch_kernel(driver, stream, what, of_step, list), "cuLaunchKernelEx");
    }
    is_first = false;
  }
}

std::shared_ptr<const memory::DeviceMemory> Kernel::Impl::make_workspace(std::int64_t bytes) const {
  auto memory = std::make_shared<const memory::DeviceMemory>(library->context,
                                                             static_cast<std::size_t>(bytes));
  if (clears_) memory->clear();
  return memory;
}

void Kernel::Impl::place_workspaces(const std::byte* params, CUdeviceptr address,
                                    std::span<std::byte> out) const {
  std::memcpy(out.data(), params, binder.param_bytes());
  for (const int offset : binder.workspace_fields()) {
    CUdeviceptr place = 0;
    std::memcpy(&place, out.data() + offset, sizeof place);
    place += address;
    std::memcpy(out.data() + offset, &place, sizeof place);
  }
  binder.place_tensor_maps(address, out.data());
}

CUresult Kernel::Impl::submit_first(Stream stream, Grid grid, int extra_shared_bytes,
                                    const std::byte* params) const {
  if (grid.threads_x != 0 || first.fields != nullptr) [[unlikely]]
    return submit(stream, shape(0, grid, extra_shared_bytes), params);
  void* value = const_cast<std::byte*>(params);  // the driver copies it and writes nothing
  return library->context->driver().cuLaunchKernel_(
      grid.wide ? first.wide : first.entry, grid.blocks, 1, 1, first.threads, 1, 1,
      first.shared_bytes + static_cast<unsigned>(extra_shared_bytes), stream, &value, nullptr);
}

[[gnu::noinline]] CUresult Kernel::Impl::submit(Stream stream, const Shape& what,
                                                const std::byte* params) const {
  return library->context->driver().cuLaunchKernel_(
      what.function, what.blocks, what.blocks_y, what.blocks_z, what.threads, what.threads_y,
      what.threads_z, what.shared_bytes, stream, values_of(what, params).data(), nullptr);
}

std::vector<void*> Kernel::Impl::values_of(const Shape& shape, const std::byte* params) {
  auto* const first = const_cast<std::byte*>(params);
  std::vector<void*> values;
  if (shape.fields == nullptr) {
    values.push_back(first);
  } else {
    for (const std::uint16_t offset : *shape.fields) values.push_back(first + offset);
  }
  return values;
}

template <typename Submit>
void Kernel::Impl::submit_checked(const char* call, Submit submit) const {
  const front::ProfilerRange range(launching);
  CUresult result = submit();
  if (result == CUDA_SUCCESS) [[likely]]
    return;
  // This thread has no context, or a destroyed one. Checking before each launch would cost a call.
  if (result == CUDA_ERROR_INVALID_CONTEXT) {
    const driver::ContextScope scope(*library->context);
    result = submit();
  }
  driver::check(library->context->driver(), result, call);
}

}  // namespace tilejit
