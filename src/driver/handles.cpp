#include "driver/handles.hpp"

#include <cstdint>
#include <string>

#include "tilejit/error.hpp"

namespace tilejit::driver {
namespace {

CUdevice find_device(const Table& driver, int ordinal) {
  int count = 0;
  check(driver, driver.cuDeviceGetCount_(&count), "cuDeviceGetCount");
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ErrorCode::no_device,
                "there is no device " + std::to_string(ordinal) + ": the driver sees " +
                    std::to_string(count) + (count == 1 ? " device" : " devices") +
                    ", counted from 0; check Options::device and CUDA_VISIBLE_DEVICES");
  }
  CUdevice device = 0;
  check(driver, driver.cuDeviceGet_(&device, ordinal), "cuDeviceGet");
  return device;
}

}  // namespace

UniqueStream make_stream(const Context& context, unsigned flags) {
  const Table& driver = context.driver();
  CUstream stream = nullptr;
  check(driver, driver.cuStreamCreate_(&stream, flags), "cuStreamCreate");
  return UniqueStream(stream, {&context});
}

UniqueStream make_stream(const Context& context, unsigned flags, int priority) {
  const Table& driver = context.driver();
  CUstream stream = nullptr;
  check(driver, driver.cuStreamCreateWithPriority_(&stream, flags, priority),
        "cuStreamCreateWithPriority");
  return UniqueStream(stream, {&context});
}

UniqueEvent make_event(const Context& context, unsigned flags) {
  const Table& driver = context.driver();
  CUevent event = nullptr;
  check(driver, driver.cuEventCreate_(&event, flags), "cuEventCreate");
  return UniqueEvent(event, {&context});
}

void synchronize(const Context& context, CUstream stream) {
  const Table& driver = context.driver();
  check(driver, driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
  context.reports().raise();
}

std::shared_ptr<const Context> Context::retain(const Table& driver, int ordinal) {
  watch_forks();
  refuse_after_fork("cuDevicePrimaryCtxRetain");
  return std::shared_ptr<const Context>(new Context(driver, find_device(driver, ordinal)));
}

std::shared_ptr<const Context> Context::adopt(const Table& driver, CUcontext handle) {
  watch_forks();
  refuse_after_fork("cuCtxGetDevice");
  const ContextScope scope(driver, handle);
  CUdevice device = 0;
  check(driver, driver.cuCtxGetDevice_(&device), "cuCtxGetDevice");
  std::shared_ptr<Context> context(new Context(driver, device, handle));
  context->query();
  return context;
}

Context::Context(const Table& driver, CUdevice device)
    : Context(driver, device, static_cast<CUcontext>(nullptr)) {
  check(driver_, driver_.cuDevicePrimaryCtxRetain_(&handle_, device_), "cuDevicePrimaryCtxRetain");
  retained_ = true;
  query();
}

Context::Context(const Table& driver, CUdevice device, CUcontext handle)
    : driver_(driver), device_(device), limits_(query_limits(driver, device)), handle_(handle) {}

void Context::query() {
  if (driver_.cuCtxGetId_(handle_, &id_) != CUDA_SUCCESS) id_ = 0;
  const ContextScope scope(*this);
  check(driver_,
        driver_.cuCtxGetStreamPriorityRange_(&limits_.least_priority, &limits_.greatest_priority),
        "cuCtxGetStreamPriorityRange");
}

Context::~Context() {
  if (!is_alive()) return;
  if (pool_ != nullptr) driver_.cuMemPoolDestroy_(pool_);
  if (retained_) driver_.cuDevicePrimaryCtxRelease_(device_);
}

CUmemoryPool Context::pool() const {
  const std::lock_guard lock(pool_mutex_);
  if (pool_ != nullptr) return pool_;
  CUmemPoolProps props = {};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.location.id = device_;
  CUmemoryPool pool = nullptr;
  check(driver_, driver_.cuMemPoolCreate_(&pool, &props), "cuMemPoolCreate");
  // Without this, a synchronisation would return the memory to the system.
  std::uint64_t kept = UINT64_MAX;
  const CUresult set =
      driver_.cuMemPoolSetAttribute_(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept);
  if (set != CUDA_SUCCESS) driver_.cuMemPoolDestroy_(pool);
  check(driver_, set, "cuMemPoolSetAttribute");
  return pool_ = pool;
}

bool Context::is_alive() const noexcept {
  if (forked()) return false;
  unsigned long long now = 0;
  switch (driver_.cuCtxGetId_(handle_, &now)) {
    case CUDA_SUCCESS: return id_ == 0 || now == id_;
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_INVALID_CONTEXT: return false;
    default: return true;  // says nothing about the context
  }
}

ContextScope::ContextScope(const Context& context)
    : ContextScope(context.driver(), context.handle()) {}

ContextScope::ContextScope(const Table& driver, CUcontext handle) : driver_(driver) {
  check(driver_, driver_.cuCtxPushCurrent_(handle), "cuCtxPushCurrent");
}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  driver_.cuCtxPopCurrent_(&popped);
}

QuietContextScope::QuietContextScope(const Context& context) noexcept
    : driver_(context.driver()),
      pushed_(driver_.cuCtxPushCurrent_(context.handle()) == CUDA_SUCCESS) {}

QuietContextScope::~QuietContextScope() {
  CUcontext popped = nullptr;
  if (pushed_) driver_.cuCtxPopCurrent_(&popped);
}

OutsideCapture::OutsideCapture(const Table& driver) : driver_(driver) {
  check(driver_, driver_.cuThreadExchangeStreamCaptureMode_(&mode_),
        "cuThreadExchangeStreamCaptureMode");
}

OutsideCapture::~OutsideCapture() {
  driver_.cuThreadExchangeStreamCaptureMode_(&mode_);
}

}  // namespace tilejit::driver
