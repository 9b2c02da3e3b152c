#include "runtime/library.hpp"

#include "driver/loader.hpp"
#include "tilejit/error.hpp"

namespace tilejit::runtime {
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

CUfunction find_entry(const Library& library, const std::string& name, const Target& target) {
  const driver::Table& driver = library.context->driver();
  CUkernel kernel = nullptr;
  check_load(driver, driver.cuLibraryGetKernel_(&kernel, library.handle.get(), name.c_str()),
             "cuLibraryGetKernel", target);
  CUfunction function = nullptr;
  check_load(driver, driver.cuKernelGetFunction_(&function, kernel), "cuKernelGetFunction", target);
  return function;
}

}  // namespace

std::shared_ptr<const Library> load_library(std::shared_ptr<const driver::Context> context,
                                            const Artifact& artifact, const plan::Plan& plan) {
  const driver::Table& driver = context->driver();
  const driver::ContextScope scope(*context);
  CUlibrary handle = nullptr;
  check_load(driver,
             driver.cuLibraryLoadData_(&handle, artifact.cubin->data(), nullptr, nullptr, 0,
                                       nullptr, nullptr, 0),
             "cuLibraryLoadData", artifact.target);
  driver::UniqueLibrary owned = driver::own(driver, handle);  // before anything that may throw
  auto library = std::make_shared<Library>();
  library->context = std::move(context);
  library->handle = std::move(owned);
  library->entry = find_entry(*library, artifact.kernel_name, artifact.target);
  if (const std::string_view suffix = plan::second_entry(plan); !suffix.empty()) {
    library->second =
        find_entry(*library, artifact.kernel_name + std::string(suffix), artifact.target);
  }
  if (plan::partials_bytes(plan) > 0) {
    library->pool = driver::make_pool(driver, library->context->device());
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

}  // namespace tilejit::runtime
