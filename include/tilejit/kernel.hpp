#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tilejit/compiler.hpp"
#include "tilejit/dtype.hpp"
#include "tilejit/launch_options.hpp"
#include "tilejit/layout.hpp"
#include "tilejit/number.hpp"
#include "tilejit/stream.hpp"

namespace tilejit {

namespace launch {
struct Internals;  // how the library itself makes and opens the handles below
}

/// One launch argument: a tensor in device memory, or a scalar. A view: shape and stride point to
/// the caller's memory and are read during the call only. Not thread-affine, no ownership.
struct Argument {
  enum class Kind : std::uint8_t {
    pointer,
    tensor,
    integer,
    unsigned_integer,  ///< above 2^63-1
    floating,
  };

  Kind kind = Kind::pointer;
  DType dtype = f32;                         ///< Kind::tensor
  std::uint64_t address = 0;                 ///< device address, for pointer and tensor
  std::span<const std::int64_t> shape = {};  ///< Kind::tensor: elements, one per leaf of the layout
                                             ///< (one per mode if none is nested)
  std::span<const std::int64_t> stride = {};  ///< Kind::tensor: elements; as many as shape
  std::int64_t integer = 0;                   ///< Kind::integer; the bits of an unsigned_integer
  double floating = 0;                        ///< Kind::floating

  Argument() = default;
  /// A device address laid out as the descriptor says.
  Argument(void* device_pointer)  // NOLINT: arguments are written as pointers and numbers
      : address(reinterpret_cast<std::uintptr_t>(device_pointer)) {}
  Argument(const void* device_pointer)  // NOLINT
      : address(reinterpret_cast<std::uintptr_t>(device_pointer)) {}
  /// A tensor: checked against the descriptor, and the source of the values of its symbols.
  Argument(DType type, void* device_pointer, std::span<const std::int64_t> extents,
           std::span<const std::int64_t> strides)
      : kind(Kind::tensor),
        dtype(type),
        address(reinterpret_cast<std::uintptr_t>(device_pointer)),
        shape(extents),
        stride(strides) {}
  Argument(std::integral auto value)  // NOLINT
      : kind(std::in_range<std::int64_t>(+value) ? Kind::integer : Kind::unsigned_integer),
        integer(static_cast<std::int64_t>(value)) {}
  Argument(std::floating_point auto value)  // NOLINT
      : kind(Kind::floating), floating(value) {}
  Argument(const Number& value)  // NOLINT
      : kind(!value.is_integer()   ? Kind::floating
             : value.exceeds_i64() ? Kind::unsigned_integer
                                   : Kind::integer),
        integer(value.bits()),
        floating(value.is_integer() ? 0 : value.to<double>()) {}

  /// The value of a scalar: of the last three kinds.
  [[nodiscard]] Number number() const noexcept {
    if (kind == Kind::floating) return floating;
    return kind == Kind::unsigned_integer ? Number(static_cast<std::uint64_t>(integer))
                                          : Number(integer);
  }
};

class BoundLaunch;

/// What the driver says of a loaded kernel.
struct KernelInfo {
  int registers = 0;      ///< per thread
  int local_bytes = 0;    ///< per thread: spills and stack
  int shared_bytes = 0;   ///< per block, static
  int threads = 0;        ///< per block, as launched
  int blocks_per_sm = 0;  ///< resident blocks of that size
};

/// A loaded kernel. Cheap to copy (shared); thread-safe; outlives its Runtime.
class Kernel {
 public:
  struct Impl;  // the library's own

  /// Launches on `stream` and returns at once. `args`: tensors, then scalars, in the order of the
  /// descriptor. Before the driver is called, checks number and kind of arguments, dtype, shape,
  /// strides, that a symbol has one value and keeps its promised divisor, alignment, and that an
  /// output overlaps another tensor either exactly (in place) or not at all:
  /// Error{invalid_argument} names the argument. A zero-size iteration space launches nothing. No
  /// other device's context may be current in the thread. Make the device's own current once
  /// (Runtime::make_current): without any, each launch costs a second driver call. Throws
  /// Error{driver_call} if the driver refuses, Error{unsupported} above 2^31-1 blocks.
  void launch(Stream stream, std::span<const Argument> args) const;
  void launch(Stream stream, std::initializer_list<Argument> args) const {
    launch(stream, std::span<const Argument>(args.begin(), args.size()));
  }
  /// As above; gives values to symbols by name, for tensors passed as bare pointers.
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues& symbols) const;
  /// As above, with options. Throws Error{unsupported} for options that the device or the kernel
  /// cannot have. If an operation takes several kernels, all options apply to the first, and the
  /// priority to all.
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues& symbols,
              const LaunchOptions& options) const;
  void launch(Stream stream, std::initializer_list<Argument> args, const SymbolValues& symbols,
              const LaunchOptions& options = {}) const {
    launch(stream, std::span<const Argument>(args.begin(), args.size()), symbols, options);
  }

  /// Checks the arguments once, for many launches (tilejit/bound_launch.hpp). Throws as launch.
  [[nodiscard]] BoundLaunch bind(std::span<const Argument> args, const SymbolValues& symbols = {},
                                 const LaunchOptions& options = {}) const;
  [[nodiscard]] BoundLaunch bind(std::initializer_list<Argument> args,
                                 const SymbolValues& symbols = {},
                                 const LaunchOptions& options = {}) const;

  /// What is launched. Under CompileEffort::tiered it changes once the full build is there; the
  /// first one stays valid.
  [[nodiscard]] const Artifact& artifact() const noexcept;
  [[nodiscard]] const Operation& op() const noexcept;
  [[nodiscard]] KernelInfo info() const;
  /// Whether this is a more general kernel that MissPolicy::fallback gave in place of the one that
  /// was asked for. It is launched as that one would be; op() and artifact() are those of the
  /// general one.
  [[nodiscard]] bool is_fallback() const noexcept { return bound_ != nullptr; }

 private:
  friend struct launch::Internals;
  explicit Kernel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
  std::shared_ptr<const SymbolValues> bound_;  // of a fallback: what its symbols must be
};

}  // namespace tilejit
