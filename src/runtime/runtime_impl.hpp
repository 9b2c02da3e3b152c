#pragma once

#include <memory>

#include "driver/handles.hpp"
#include "runtime/library.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {

struct Runtime::Impl {
  /// Throws Error{no_device}, Error{driver_call}.
  Impl(Options options, const driver::Table& driver);

  std::shared_ptr<const driver::Context> context;
  DeviceInfo device;
  runtime::Libraries libraries;
  Compiler compiler;  // last: what it does in the background loads libraries
};

}  // namespace tilejit
