#include "launch/library.hpp"

#include <algorithm>

#include "driver/loader.hpp"
#include "front/profiler_range.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

bool refused(CUresult result) noexcept {
  return result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
         result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || result == CUDA_ERROR_INVALID_SOURCE;
}

/// A driver that loads lazily may refuse a cubin in any of the calls, not only the first.
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

/// Throws Error{unsupported} if the device takes no block of the kernel, as where it was planned
/// for a larger one.
void check_limits(const driver::Limits& limits, const plan::Plan& plan) {
  const auto check = [](std::int64_t wanted, std::int64_t most, const char* what) {
    if (wanted <= most) return;
    throw Error(ErrorCode::unsupported, "the plan has " + std::to_string(wanted) + " " + what +
                                            ", and this device takes at most " +
                                            std::to_string(most) + "; plan for its own target");
  };
  for (const plan::Plan& stage : plan.stages) check_limits(limits, stage);
  check(plan.threads, limits.block_threads, "threads a block");
  check(plan::dynamic_shared_bytes(plan), limits.shared_bytes, "bytes of shared memory a block");
  check(plan.rows ? plan.rows->cluster : 1, limits.clusters ? driver::Limits::kClusterBlocks : 1,
        "blocks a cluster");
}

/// Blocks that the device runs at once.
unsigned resident_blocks(const Library& library, const plan::Plan& plan) {
  const driver::Table& driver = library.context->driver();
  CUlaunchAttribute dims{};
  dims.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  dims.value.clusterDim = {static_cast<unsigned>(plan.rows->cluster), 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = dims.value.clusterDim.x;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = static_cast<unsigned>(plan.threads);
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = static_cast<unsigned>(plan::dynamic_shared_bytes(plan));
  config.attrs = &dims;
  config.numAttrs = 1;
  int clusters = 0;
  driver::check(driver, driver.cuOccupancyMaxActiveClusters_(&clusters, library.entry, &config),
                "cuOccupancyMaxActiveClusters");
  return static_cast<unsigned>(std::max(1, clusters)) * dims.value.clusterDim.x;
}

/// The entry points of a plan of one kernel, and what its launches need.
void find_kernel(Library& library, CUlibrary handle, const std::string& name, const Target& target,
                 const plan::Plan& plan) {
  const driver::Table& driver = library.context->driver();
  library.entry = find_entry(driver, handle, name, target);
  if (const std::string_view suffix = plan::second_entry(plan); !suffix.empty()) {
    library.second = find_entry(driver, handle, name + std::string(suffix), target);
  }
  if (plan::partials_bytes(plan) > 0) {
    library.pool = driver::make_pool(*library.context);
  }
  if (const int bytes = plan::dynamic_shared_bytes(plan); bytes > 0) {
    driver::check(driver,
                  driver.cuFuncSetAttribute_(
                      library.entry, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes),
                  "cuFuncSetAttribute");
    library.most_blocks = resident_blocks(library, plan);
  }
}

}  // namespace

std::shared_ptr<const Library> load_library(std::shared_ptr<const driver::Context> context,
                                            const Artifact& artifact, const plan::Plan& plan) {
  const driver::Table& driver = context->driver();
  driver::refuse_after_fork("cuLibraryLoadData");
  const front::ProfilerRange range("load", artifact.kernel_name);
  check_limits(context->limits(), plan);
  const driver::ContextScope scope(*context);
  const driver::OutsideCapture outside(driver);
  CUlibrary handle = nullptr;
  check_load(driver,
             driver.cuLibraryLoadData_(&handle, artifact.cubin->data(), nullptr, nullptr, 0,
                                       nullptr, nullptr, 0),
             "cuLibraryLoadData", artifact.target);
  driver::UniqueLibrary owned(handle, {context.get()});  // before anything that may throw
  auto library = std::make_shared<Library>();
  library->context = std::move(context);
  library->handle = std::move(owned);
  if (plan.stages.empty()) {
    find_kernel(*library, library->handle.get(), artifact.kernel_name, artifact.target, plan);
    return library;
  }
  library->pool = driver::make_pool(*library->context);
  for (const plan::Plan& one : plan.stages) {
    auto stage = std::make_shared<Library>();
    stage->context = library->context;
    find_kernel(*stage, library->handle.get(), one.kernel_name, artifact.target, one);
    library->stages.push_back(std::move(stage));
  }
  return library;
}

std::shared_ptr<const Library> Libraries::find_or_load(const Artifact& artifact,
                                                       const plan::Plan& plan) {
  const std::lock_guard lock(mutex_);
  if (const auto found = loaded_.find(artifact.key); found != loaded_.end()) return found->second;
  std::shared_ptr<const Library> library = load_library(context_, artifact, plan);
  loaded_.emplace(artifact.key, library);
  return library;
}

}  // namespace tilejit::launch
