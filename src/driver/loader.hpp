#pragma once

#include <functional>

#include "driver/driver.hpp"

namespace tilejit::driver {

/// Address of the function of that exact (versioned) name; null if there is none.
using Lookup = std::function<void*(const char* symbol)>;

/// Fills a table. Throws Error{no_driver} that names the first function `lookup` does not have.
[[nodiscard]] Table resolve(const Lookup& lookup);

/// The functions of libcuda.so.1, found at the first call; nothing is initialised. A failure is not
/// kept: the next call tries again. Thread-safe. Throws Error{no_driver}.
[[nodiscard]] const Table& load_functions();

/// Calls cuInit. Throws Error{no_device} if the driver sees no device, Error{no_driver} with an
/// explanation if it cannot work at all.
void initialize(const Table& driver);

/// "CUDA_ERROR_INVALID_VALUE (invalid argument)"; the number where the driver has no name for it.
[[nodiscard]] std::string describe(const Table& driver, CUresult result);

/// The highest CUDA version the driver supports, "13.0"; "unknown" if it does not say.
[[nodiscard]] std::string version_text(const Table& driver);

}  // namespace tilejit::driver
