#pragma once

#include <memory>

#include "driver/handles.hpp"
#include "runtime/library.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {

struct Runtime::Impl {
  /// Throws Error{no_device}, Error{driver_call}.
  Impl(Options options, const driver::Table& driver);
  /// In a context of the caller's.
  Impl(Options options, const driver::Table& driver, CUcontext handle);

  std::shared_ptr<const driver::Context> context;
  DeviceInfo device;
  runtime::Libraries libraries;
  Compiler compiler;  // last: what it does in the background loads libraries

 private:
  Impl(Options options, std::shared_ptr<const driver::Context> owner);
};

}  // namespace tilejit
