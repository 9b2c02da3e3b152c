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

UniqueLibrary own(const Table& driver, CUlibrary library) noexcept {
  return UniqueLibrary(library, {&driver});
}

UniqueStream make_stream(const Table& driver, unsigned flags) {
  CUstream stream = nullptr;
  check(driver, driver.cuStreamCreate_(&stream, flags), "cuStreamCreate");
  return UniqueStream(stream, {&driver});
}

UniqueEvent make_event(const Table& driver, unsigned flags) {
  CUevent event = nullptr;
  check(driver, driver.cuEventCreate_(&event, flags), "cuEventCreate");
  return UniqueEvent(event, {&driver});
}

UniquePool make_pool(const Table& driver, CUdevice device) {
  CUmemPoolProps props = {};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.location.id = device;
  CUmemoryPool pool = nullptr;
  check(driver, driver.cuMemPoolCreate_(&pool, &props), "cuMemPoolCreate");
  UniquePool owned(pool, {&driver});
  std::uint64_t kept = UINT64_MAX;  // else a synchronisation would give the memory back
  check(driver, driver.cuMemPoolSetAttribute_(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept),
        "cuMemPoolSetAttribute");
  return owned;
}

std::shared_ptr<const Context> Context::retain(const Table& driver, int ordinal) {
  return std::shared_ptr<const Context>(new Context(driver, find_device(driver, ordinal)));
}

Context::Context(const Table& driver, CUdevice device) : driver_(driver), device_(device) {
  check(driver_, driver_.cuDevicePrimaryCtxRetain_(&handle_, device_), "cuDevicePrimaryCtxRetain");
}

Context::~Context() {
  driver_.cuDevicePrimaryCtxRelease_(device_);
}

ContextScope::ContextScope(const Context& context) : driver_(context.driver()) {
  check(driver_, driver_.cuCtxPushCurrent_(context.handle()), "cuCtxPushCurrent");
}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  driver_.cuCtxPopCurrent_(&popped);
}

}  // namespace tilejit::driver
