#include "memory/device.hpp"

#include <array>

#include "driver/loader.hpp"
#include "tilejit/error.hpp"

namespace tilejit::memory {

Target native_target(int major, int minor) noexcept {
  return {.major = major, .minor = minor, .feature = major >= 9 ? 'a' : '\0'};
}

DeviceInfo describe_device(const driver::Table& driver, int ordinal) {
  CUdevice device = 0;
  driver::check(driver, driver.cuDeviceGet_(&device, ordinal), "cuDeviceGet");
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    driver::check(driver, driver.cuDeviceGetAttribute_(&value, which, device),
                  "cuDeviceGetAttribute");
    return value;
  };
  std::array<char, 256> name = {};
  driver::check(driver, driver.cuDeviceGetName_(name.data(), static_cast<int>(name.size()), device),
                "cuDeviceGetName");
  DeviceInfo info;
  driver::check(driver, driver.cuDeviceTotalMem_(&info.memory_bytes, device), "cuDeviceTotalMem");
  info.ordinal = ordinal;
  info.name = name.data();
  info.target = native_target(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                              attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  info.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  return info;
}

DriverInfo describe_driver(const driver::Table& driver) {
  DriverInfo info;
  driver::check(driver, driver.cuDriverGetVersion_(&info.version), "cuDriverGetVersion");
  try {
    driver::initialize(driver);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::no_device) return info;
    throw;
  }
  int count = 0;
  driver::check(driver, driver.cuDeviceGetCount_(&count), "cuDeviceGetCount");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    info.devices.push_back(describe_device(driver, ordinal));
  }
  return info;
}

}  // namespace tilejit::memory

namespace tilejit {

DriverInfo query_driver() {
  return memory::describe_driver(driver::load_functions());
}

}  // namespace tilejit
