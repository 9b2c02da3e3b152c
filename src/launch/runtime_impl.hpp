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
  /// In a context of the caller's.
  Impl(Options options, const driver::Table& driver, CUcontext handle);

  /// A graph that captures a quick build would keep it.
  enum class Capturing : bool { no, yes };
  /// Plans `op`, has it compiled and loads it.
  [[nodiscard]] Kernel load(const Operation& op, Capturing capturing);
  /// The same, with what goes with a request (front::Requests), and a fallback for a miss.
  [[nodiscard]] Kernel serve(const Operation& op, Capturing capturing);
  /// A kernel that was prepared, and that computes what `op` asks for.
  [[nodiscard]] std::optional<Kernel> find_general(const Operation& op);

  std::shared_ptr<const driver::Context> context;
  DeviceInfo device;
  launch::Libraries libraries;
  launch::KnownKernels known;
  Compiler compiler;  // last: what it does in the background loads libraries

 private:
  Impl(Options options, std::shared_ptr<const driver::Context> owner);
};

}  // namespace tilejit
