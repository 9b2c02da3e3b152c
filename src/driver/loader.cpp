#include "driver/loader.hpp"

#include <dlfcn.h>

#include <string>

#include "tilejit/error.hpp"

// Two steps, so that cuda.h's renames (cuMemAlloc -> cuMemAlloc_v2) apply before the name is
// quoted. The plain name is exported too, but with the signature of an older release.
#define TILEJIT_DRIVER_QUOTE_(name) #name
#define TILEJIT_DRIVER_QUOTE(name) TILEJIT_DRIVER_QUOTE_(name)

namespace tilejit::driver {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

void* find(const Lookup& lookup, const char* symbol) {
  if (void* address = lookup(symbol)) return address;
  throw Error(ErrorCode::no_driver,
              std::string("the CUDA driver is too old: it has no function ") + symbol +
                  "; install a driver for CUDA 12.8 or later",
              kLibrary);
}

// The loader's own sentence is long and, in the usual case, only says that there is no such file.
std::string explain_load(const char* reason) {
  const std::string text = reason != nullptr ? reason : "no reason given";
  const bool missing = text.starts_with(kLibrary) && text.ends_with("No such file or directory");
  return missing ? std::string(kLibrary) + " was not found"
                 : "the CUDA driver could not be loaded: " + text;
}

Table open_library() {
  // Never closed: the driver has its own threads and exit handlers.
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorCode::no_driver,
                explain_load(dlerror()) + "; install the NVIDIA driver, or use the CPU reference",
                kLibrary);
  }
  return resolve([library](const char* symbol) { return dlsym(library, symbol); });
}

std::string explain_init(CUresult result) {
  switch (result) {
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "the driver library and the kernel module have different versions; reboot, or "
             "reinstall the driver";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "the forward compatibility library does not support this device; take it out of the "
             "library path";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "the system is not ready; check that the driver's services (nvidia-fabricmanager) run";
    case CUDA_ERROR_STUB_LIBRARY:
      return "this is the toolkit's stub library; take its folder out of the library path";
    case CUDA_ERROR_OPERATING_SYSTEM:
      return "the operating system refused access to the device; check the permissions of "
             "/dev/nvidia*";
    default: return "the driver could not be initialised; check nvidia-smi";
  }
}

}  // namespace

Table resolve(const Lookup& lookup) {
  Table table;
#define TILEJIT_DRIVER_RESOLVE(fn) \
  table.fn##_ = reinterpret_cast<decltype(table.fn##_)>(find(lookup, TILEJIT_DRIVER_QUOTE(fn)));
  TILEJIT_DRIVER_API(TILEJIT_DRIVER_RESOLVE)
#undef TILEJIT_DRIVER_RESOLVE
#define TILEJIT_DRIVER_RESOLVE_OPTIONAL(fn) \
  table.fn##_ = reinterpret_cast<decltype(table.fn##_)>(lookup(TILEJIT_DRIVER_QUOTE(fn)));
  TILEJIT_OPTIONAL_DRIVER_API(TILEJIT_DRIVER_RESOLVE_OPTIONAL)
#undef TILEJIT_DRIVER_RESOLVE_OPTIONAL
  return table;
}

const Table& load_functions() {
  static const Table table = open_library();
  return table;
}

void initialize(const Table& driver) {
  const CUresult result = driver.cuInit_(0);
  if (result == CUDA_SUCCESS) return;
  if (result == CUDA_ERROR_NO_DEVICE) {
    throw Error(ErrorCode::no_device,
                "the CUDA driver works but sees no device; check nvidia-smi and "
                "CUDA_VISIBLE_DEVICES",
                "cuInit");
  }
  throw Error(ErrorCode::no_driver, describe(driver, result) + ": " + explain_init(result),
              "cuInit");
}

const Table& load_driver() {
  static const Table& ready = [&]() -> const Table& {
    const Table& table = load_functions();
    initialize(table);
    return table;
  }();
  return ready;
}

}  // namespace tilejit::driver
