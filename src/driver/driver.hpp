#pragma once

#include <cuda.h>

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error nullptr is the legacy default stream in the public API: build without CUDA_API_PER_THREAD_DEFAULT_STREAM
#endif

#include <memory>
#include <string>
#include <type_traits>

namespace tilejit::driver {

// clang-format off
/// Every driver function that the library and its tests call. `cuda.h` renames some by macro
/// (cuMemAlloc is cuMemAlloc_v2), so the list is expanded in two steps: then the renamed symbol is
/// looked up.
#define TILEJIT_DRIVER_API(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) \
  X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) \
  X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) \
  X(cuCtxSetCurrent) X(cuCtxPushCurrent) X(cuCtxPopCurrent) X(cuCtxGetDevice) X(cuCtxGetId) X(cuCtxGetStreamPriorityRange) X(cuCtxSynchronize) \
  X(cuLibraryLoadData) X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuLibraryGetGlobal) X(cuKernelGetFunction) \
  X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuLaunchKernel) X(cuLaunchKernelEx) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuOccupancyMaxActiveClusters) \
  X(cuMemPoolCreate) X(cuMemPoolSetAttribute) X(cuMemPoolDestroy) \
  X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync) \
  X(cuMemAlloc) X(cuMemFree) X(cuMemAllocAsync) X(cuMemHostAlloc) X(cuMemFreeHost) \
  X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemsetD8Async) \
  X(cuPointerGetAttribute) \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) \
  X(cuStreamCreateWithPriority) X(cuStreamQuery) X(cuStreamWaitEvent) X(cuStreamGetId) \
  X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamIsCapturing) X(cuThreadExchangeStreamCaptureMode) \
  X(cuGraphInstantiate) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) \
  X(cuGraphCreate) X(cuGraphClone) X(cuGraphNodeFindInClone) X(cuGraphChildGraphNodeGetGraph) \
  X(cuGraphAddKernelNode) X(cuGraphAddMemcpyNode) X(cuGraphAddMemsetNode) X(cuGraphAddEmptyNode) \
  X(cuGraphAddEventRecordNode) X(cuGraphAddEventWaitNode) X(cuGraphAddChildGraphNode) \
  X(cuGraphKernelNodeGetParams) X(cuGraphKernelNodeSetParams) X(cuGraphKernelNodeSetAttribute) \
  X(cuGraphExecKernelNodeSetParams) X(cuGraphNodeSetEnabled) X(cuGraphExecUpdate) \
  X(cuGraphGetNodes) X(cuGraphGetEdges) X(cuGraphNodeGetType) X(cuFuncGetName) X(cuKernelGetName) \
  X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventElapsedTime) \
  X(cuEventQuery) X(cuEventSynchronize)
/// Functions that a driver may lack. Who needs one says so where it is null.
#define TILEJIT_OPTIONAL_DRIVER_API(X) \
  X(cuTensorMapEncodeTiled)
// clang-format on

/// The driver as a table of functions. Tests put their own functions into a copy.
struct Table {
#define TILEJIT_DRIVER_FIELD(fn) std::add_pointer_t<decltype(::fn)> fn##_ = nullptr;
  TILEJIT_DRIVER_API(TILEJIT_DRIVER_FIELD)
  TILEJIT_OPTIONAL_DRIVER_API(TILEJIT_DRIVER_FIELD)
#undef TILEJIT_DRIVER_FIELD
};

/// The table of libcuda.so.1, loaded and initialised by the first call that succeeds; later calls
/// return the same table. Thread-safe. Throws Error{no_driver} if the library is missing or lacks a
/// function that is not optional (the message names it), or if cuInit fails; Error{no_device} if
/// cuInit finds no device.
[[nodiscard]] const Table& load_driver();

/// Throws Error{driver_call}, unless `result` is success, with the error's name and text and the
/// name `call` (e.g. "cuLaunchKernel").
void check(const Table& driver, CUresult result, const char* call);

/// The first driver call of this thread, since forget_capture_fault, that failed because of a
/// capture; null if none did.
[[nodiscard]] const char* capture_fault() noexcept;
void forget_capture_fault() noexcept;

}  // namespace tilejit::driver
