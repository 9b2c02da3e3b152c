#pragma once

#include "driver/driver.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit::memory {

/// Throws Error{driver_call}.
[[nodiscard]] DeviceInfo describe_device(const driver::Table& driver, int ordinal);

/// query_driver on any driver.
[[nodiscard]] DriverInfo describe_driver(const driver::Table& driver);

/// What a device of that compute capability is compiled for: the architecture-specific target from
/// 9.0 on ("sm_90a"), where there is one, else the plain one ("sm_86").
[[nodiscard]] Target native_target(int major, int minor) noexcept;

}  // namespace tilejit::memory
