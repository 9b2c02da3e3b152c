#include "launch/library.hpp"

#include <algorithm>

#include "driver/loader.hpp"
#include "front/profiler_range.hpp"
#include "launch/tensor_map_encoder.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

bool refused(CUresult result) noexcept {
  return result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
         result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || result == CUDA_ERROR_INVALID_SOURCE;
}

/// A driver that loads lazily may refuse a cubin in any of these calls, not only in the first.
void check_load(const driver::Table& driver, CUresult result, const char* call,
                const Target& target) {
  if (refused(result)) {
    throw Error(ErrorCode::no_driver,
                "the driver refused the cubin for " + to_string(target) + " with " +
                    driver::describe(driver, result) + ": it supports CUDA " +
                    driver::version_text(driver) +
                    "; install a driver as new as the compiler, or compile for the device's own "
                    "target",
                call);
  }
  driver::check(driver, result, call);
}

CUfunction find_entry(const driver::Table& driver, CUlibrary library, const std::string& name,
                      const Target& target) {
  CUkernel kernel = nullptr;
  check_load(driver, driver.cuLibraryGetKernel_(&kernel, library, name.c_str()),
             "cuLibraryGetKernel", target);
  CUfunction function = nullptr;
  check_load(driver, driver.cuKernelGetFunction_(&function, kernel), "cuKernelGetFunction", target);
  return function;
}

/// Throws Error{unsupported} if the device cannot run a block of the kernel, for example because it
/// was planned for a larger device.
void check_limits(const driver::Limits& limits, const operation::Step& step) {
  const auto check = [](std::int64_t wanted, std::int64_t most, const char* what) {
    if (wanted <= most) return;
    throw Error(ErrorCode::unsupported, "the plan has " + std::to_string(wanted) + " " + what +
                                            ", and this device takes at most " +
                                            std::to_string(most) + "; plan for its own target");
  };
  check(step.threads, limits.block_threads, "threads a block");
  check(step.shared_bytes, limits.shared_bytes, "bytes of shared memory a block");
  check(step.cluster, limits.clusters ? driver::Limits::kClusterBlocks : 1, "blocks a cluster");
}

/// The number of blocks that the device runs at once.
unsigned resident_blocks(const driver::Table& driver, CUfunction entry,
                         const operation::Step& step) {
  CUlaunchAttribute dims{};
  dims.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  dims.value.clusterDim = {static_cast<unsigned>(step.cluster), 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = dims.value.clusterDim.x;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = static_cast<unsigned>(step.threads);
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = static_cast<unsigned>(step.shared_bytes);
  config.attrs = &dims;
  config.numAttrs = 1;
  int clusters = 0;
  driver::check(driver, driver.cuOccupancyMaxActiveClusters_(&clusters, entry, &config),
                "cuOccupancyMaxActiveClusters");
  return static_cast<unsigned>(std::max(1, clusters)) * dims.value.clusterDim.x;
}

/// Makes the blocks of a launch form clusters if the source does not declare them.
void set_cluster(const driver::Table& driver, CUfunction entry, const operation::Step& step) {
  const auto set = [&](CUfunction_attribute which, int value) {
    driver::check(driver, driver.cuFuncSetAttribute_(entry, which, value), "cuFuncSetAttribute");
  };
  int declared = 0;
  driver::check(
      driver,
      driver.cuFuncGetAttribute_(&declared, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, entry),
      "cuFuncGetAttribute");
  if (declared == step.cluster) return;
  if (declared != 0) {
    throw Error(ErrorCode::invalid_spec,
                "the source declares clusters of " + std::to_string(declared) +
                    " blocks, and the launch has clusters of " + std::to_string(step.cluster) +
                    "; let one of the two say it",
                "/launch/cluster");
  }
  set(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, step.cluster);
  set(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1);
  set(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1);
}

/// Allows all the shared memory that the device has besides what the kernel declares. Returns it.
unsigned allow_all_shared(const driver::Table& driver, CUfunction entry,
                          const driver::Limits& limits) {
  int declared = 0;
  driver::check(driver,
                driver.cuFuncGetAttribute_(&declared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, entry),
                "cuFuncGetAttribute");
  const int most = std::max(0, limits.shared_bytes - declared);
  driver::check(
      driver,
      driver.cuFuncSetAttribute_(entry, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most),
      "cuFuncSetAttribute");
  return static_cast<unsigned>(most);
}

Library::Kernel find_kernel(const driver::Table& driver, CUlibrary library, const Target& target,
                            const driver::Limits& limits, const operation::Step& step) {
  Library::Kernel kernel{.entry = find_entry(driver, library, step.entry, target)};
  if (!step.wide_entry.empty()) kernel.wide = find_entry(driver, library, step.wide_entry, target);
  if (step.sets_cluster) set_cluster(driver, kernel.entry, step);
  if (step.shape && !step.shape->numbers[operation::LaunchShape::shared].is_known()) {
    kernel.most_shared = allow_all_shared(driver, kernel.entry, limits);
  } else if (step.shared_bytes > 0) {
    driver::check(
        driver,
        driver.cuFuncSetAttribute_(kernel.entry, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   step.shared_bytes),
        "cuFuncSetAttribute");
  }
  if (step.grid.resident) kernel.most_blocks = resident_blocks(driver, kernel.entry, step);
  return kernel;
}

}  // namespace

std::shared_ptr<const Library> load_library(std::shared_ptr<const driver::Context> context,
                                            const Artifact& artifact,
                                            const operation::LaunchPlan& plan) {
  const driver::Table& driver = context->driver();
  driver::refuse_after_fork("cuLibraryLoadData");
  const front::ProfilerRange range("load", artifact.kernel_name);
  for (const operation::Step& step : plan.steps) check_limits(context->limits(), step);
  if (std::ranges::any_of(plan.steps, operation::has_tensor_maps)) require_tensor_maps(*context);
  const driver::ContextScope scope(*context);
  const driver::OutsideCapture outside(driver);
  CUlibrary handle = nullptr;
  check_load(driver,
             driver.cuLibraryLoadData_(&handle, artifact.cubin->data(), nullptr, nullptr, 0,
                                       nullptr, nullptr, 0),
             "cuLibraryLoadData", artifact.target);
  driver::UniqueLibrary owned(handle, {context.get()});  // owned before anything can throw
  auto library = std::make_shared<Library>();
  library->context = std::move(context);
  library->handle = std::move(owned);
  if (!plan.assertions.empty()) {
    library->assertions = std::make_unique<const Assertions>(library->context, handle, plan);
  }
  if (!plan.workspaces.empty()) (void)library->context->pool();  // a launch will need it
  for (const operation::Step& step : plan.steps) {
    library->kernels.push_back(
        find_kernel(driver, handle, artifact.target, library->context->limits(), step));
  }
  return library;
}

std::shared_ptr<const Library> Libraries::find_or_load(const Artifact& artifact,
                                                       const operation::LaunchPlan& plan) {
  const std::lock_guard lock(mutex_);
  if (const auto found = loaded_.find(artifact.key); found != loaded_.end()) return found->second;
  std::shared_ptr<const Library> library = load_library(context_, artifact, plan);
  loaded_.emplace(artifact.key, library);
  return library;
}

}  // namespace tilejit::launch
