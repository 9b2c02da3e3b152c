#include <string>

#include "driver/driver.hpp"
#include "driver/loader.hpp"
#include "tilejit/error.hpp"

namespace tilejit::driver {
namespace {

/// Advice about `result` for a user; empty if the error's own text suffices.
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
    case CUDA_ERROR_NOT_INITIALIZED:
      return "; CUDA does not work in a process that was forked after its parent had initialised "
             "it: fork earlier, or use posix_spawn";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
      return "; a stream is being captured, and this call is not allowed meanwhile: make it before "
             "the capture, or capture in relaxed mode";
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return "; an earlier call has broken the capture of this stream: end it, and see which call "
             "failed first";
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
      return "; an event would join two captures: capture both streams in one, by an event of the "
             "first that the second waits for";
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
      return "; the capture was begun on another stream: end it there";
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
      return "; another stream joined the capture and did not come back: record an event on it, "
             "and let the first stream wait for that before the end";
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
      return "; work of the capture would depend on work outside it: record the event inside the "
             "capture";
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return "; the legacy default stream would have to wait for the capture: use created streams "
             "that do not block";
    case CUDA_ERROR_CAPTURED_EVENT:
      return "; the event was recorded in a capture and holds no time or state: ask one that was "
             "recorded outside";
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
      return "; the capture was begun by another thread: end it there, or capture in relaxed mode";
    default: return "";
  }
}

thread_local const char* first_capture_fault = nullptr;

bool is_of_capture(CUresult result) noexcept {
  return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
         result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

}  // namespace

const char* capture_fault() noexcept {
  return first_capture_fault;
}

void forget_capture_fault() noexcept {
  first_capture_fault = nullptr;
}

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
  if (is_of_capture(result) && first_capture_fault == nullptr) first_capture_fault = call;
  throw Error(ErrorCode::driver_call,
              std::string(call) + " failed: " + describe(driver, result) + advice(result), call);
}

}  // namespace tilejit::driver
