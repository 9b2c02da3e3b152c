#pragma once

#include <functional>

#include "driver/driver.hpp"

namespace tilejit::driver {

/// Returns the address of the function of exactly that (versioned) name; null if there is none.
using Lookup = std::function<void*(const char* symbol)>;

/// Fills a table. Throws Error{no_driver} that names the first function that `lookup` does not
/// find, unless it is optional.
[[nodiscard]] Table resolve(const Lookup& lookup);

/// The functions of libcuda.so.1, found by the first call that succeeds. Initialises nothing. A
/// failure is not remembered: the next call tries again. Thread-safe. Throws Error{no_driver}.
[[nodiscard]] const Table& load_functions();

/// Calls cuInit. Throws Error{no_device} if the driver sees no device, Error{no_driver} with an
/// explanation if the driver cannot work at all.
void initialize(const Table& driver);

/// "CUDA_ERROR_INVALID_VALUE (invalid argument)"; the number if the driver has no name for it.
[[nodiscard]] std::string describe(const Table& driver, CUresult result);

/// The highest CUDA version the driver supports, "13.0"; "unknown" if it does not say.
[[nodiscard]] std::string version_text(const Table& driver);

}  // namespace tilejit::driver
