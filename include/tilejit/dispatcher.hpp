#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "tilejit/kernel.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/stream.hpp"

namespace tilejit {

class Runtime;

struct DispatchOptions {
  /// Extents up to this one are compiled in, each in a kernel of its own; 1 always is. 0..64.
  std::int64_t known_extent = 4;
  bool operator==(const DispatchOptions&) const = default;
};

/// Launches one operation on tensors whose dtypes, ranks, shapes and strides change: makes the
/// descriptor that fits the given tensors, and keeps a kernel for each. A descriptor knows dtypes,
/// ranks, strides of 0 and 1, which modes are contiguous with each other, small extents, alignment,
/// and powers of two up to 16 bytes that divide extents and strides; everything else is symbolic,
/// so one kernel serves all sizes alike. Thread-safe; a launch that finds its kernel takes no lock
/// and allocates nothing.
class Dispatcher {
 public:
  /// Of the tensors of `operation` only name and access count; dtype and layout come with each
  /// launch (except that a tensor declared as tf32 takes f32 as that). `runtime` must outlive the
  /// dispatcher.
  Dispatcher(Runtime& runtime, Operation operation, DispatchOptions options = {});
  ~Dispatcher();
  Dispatcher(Dispatcher&&) noexcept;
  Dispatcher& operator=(Dispatcher&&) noexcept;

  /// As Kernel::launch. Tensors must have shapes and strides, one extent per mode; modes are
  /// aligned at the last one. Compiles for tensors of a new kind, and also throws as
  /// Runtime::compile does.
  void launch(Stream stream, std::span<const Argument> args);
  void launch(Stream stream, std::initializer_list<Argument> args) {
    launch(stream, std::span<const Argument>(args.begin(), args.size()));
  }

  /// The kernel for such arguments, compiled now if it is not there: for use ahead of launches.
  [[nodiscard]] Kernel kernel(std::span<const Argument> args);
  /// What that kernel is compiled from.
  [[nodiscard]] Operation specialize(std::span<const Argument> args) const;
  /// The number of kernels so far.
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit
