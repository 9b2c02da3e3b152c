#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>

#include "tilejit/kernel.hpp"

namespace tilejit {

/// A launch whose arguments have been checked, with the kernel's parameters as the driver takes
/// them (Kernel::bind): for loops. A value: a copy has parameters of its own. Launching one object
/// from several threads is safe while none of them changes it.
class BoundLaunch {
 public:
  struct Impl;  // the library's own

  ~BoundLaunch();
  BoundLaunch(const BoundLaunch& other);
  BoundLaunch(BoundLaunch&&) noexcept;
  BoundLaunch& operator=(const BoundLaunch& other);
  BoundLaunch& operator=(BoundLaunch&&) noexcept;

  /// One call of the driver; nothing is checked, allocated or locked. Throws Error{driver_call}.
  void launch(Stream stream) const;

  /// Sets another address for a tensor, or another value for a scalar, at a position in the list of
  /// arguments. A tensor with shape and strides must have those that were bound. Throws
  /// Error{invalid_argument} as Kernel::launch does, and then changes nothing.
  void set(std::size_t argument, const Argument& value);
  /// Sets several at once, for tensors that swap places.
  struct Change {
    std::size_t argument = 0;
    Argument value = {};
  };
  void set(std::initializer_list<Change> changes);

  [[nodiscard]] const Kernel& kernel() const noexcept;
  /// Blocks of the grid, the first kernel's if there are several; 0 if it has nothing to do.
  [[nodiscard]] unsigned blocks() const noexcept;

 private:
  friend struct launch::Internals;
  explicit BoundLaunch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit
