#include <string>

#include "driver/driver.hpp"
#include "driver/loader.hpp"
#include "tilejit/error.hpp"

namespace tilejit::driver {
namespace {

/// What a user can do about `result`; empty where the error's own text says it all.
const char* advice(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY: return "; free device memory";
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return "; make the context of the stream's device current in this thread";
    case CUDA_ERROR_INVALID_HANDLE:
      return "; check that the stream belongs to this device and still exists";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
      return "; an earlier kernel of this process failed: check that every tensor spans its "
             "layout, "
             "and restart the process";
    case CUDA_ERROR_DEINITIALIZED: return "; the process is ending";
    default: return "";
  }
}

}  // namespace

std::string describe(const Table& driver, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.cuGetErrorName_(result, &name) != CUDA_SUCCESS || name == nullptr) {
    return "CUDA error " + std::to_string(static_cast<int>(result));
  }
  if (driver.cuGetErrorString_(result, &text) != CUDA_SUCCESS || text == nullptr) return name;
  return std::string(name) + " (" + text + ")";
}

std::string version_text(const Table& driver) {
  int version = 0;
  if (driver.cuDriverGetVersion_(&version) != CUDA_SUCCESS) return "unknown";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void check(const Table& driver, CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) [[likely]]
    return;
  throw Error(ErrorCode::driver_call,
              std::string(call) + " failed: " + describe(driver, result) + advice(result), call);
}

}  // namespace tilejit::driver
