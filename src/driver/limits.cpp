#include "driver/limits.hpp"

namespace tilejit::driver {

Limits query_limits(const Table& driver, CUdevice device) {
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    check(driver, driver.cuDeviceGetAttribute_(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  return {.grid_x = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
          .block_threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
          .shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
          .multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
          .major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
          .cooperative = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0,
          .clusters = attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0};
}

}  // namespace tilejit::driver
