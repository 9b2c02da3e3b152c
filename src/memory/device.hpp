#pragma once

#include "driver/driver.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit::memory {

/// Describes the device `ordinal`. Throws Error{driver_call}.
[[nodiscard]] DeviceInfo describe_device(const driver::Table& driver, int ordinal);

/// query_driver for any driver.
[[nodiscard]] DriverInfo describe_driver(const driver::Table& driver);

/// The target for a device of that compute capability: the architecture-specific one from 9.0 on
/// ("sm_90a"), if it exists, else the plain one ("sm_86").
[[nodiscard]] Target native_target(int major, int minor) noexcept;

}  // namespace tilejit::memory
