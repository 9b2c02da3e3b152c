#pragma once

#include <memory>
#include <optional>

#include "driver/handles.hpp"
#include "launch/known_kernels.hpp"
#include "launch/library.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {

struct Runtime::Impl {
  /// Throws Error{no_device}, Error{driver_call}.
  Impl(Options options, const driver::Table& driver);
  /// Lives in a context of the caller.
  Impl(Options options, const driver::Table& driver, CUcontext handle);

  /// Tells a load whether it is for a graph: a graph that captured a quick build would keep it.
  enum class Capturing : bool { no, yes };
  /// Plans and compiles `op`, and loads the result.
  [[nodiscard]] Kernel load(const Operation& op, Capturing capturing);
  /// The same with the bookkeeping of a request (front::Requests), and with a fallback for a miss.
  [[nodiscard]] Kernel serve(const Operation& op, Capturing capturing);
  /// A kernel, prepared earlier, that also computes what `op` asks for.
  [[nodiscard]] std::optional<Kernel> find_general(const Operation& op);

  std::shared_ptr<const driver::Context> context;
  DeviceInfo device;
  launch::Libraries libraries;
  launch::KnownKernels known;
  Compiler compiler;  // last: its background work loads libraries

 private:
  Impl(Options options, std::shared_ptr<const driver::Context> owner);
};

}  // namespace tilejit
