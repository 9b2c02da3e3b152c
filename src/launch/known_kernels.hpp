#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "tilejit/kernel.hpp"

namespace tilejit::launch {

/// The kernels that a Runtime has returned, by the number of their descriptor. Thread-safe.
class KnownKernels {
 public:
  /// Keeps the first kernel of a number.
  void add(std::size_t number, const Kernel& kernel) {
    const std::lock_guard lock(mutex_);
    kernels_.emplace(number, kernel);
  }
  [[nodiscard]] std::optional<Kernel> find(std::size_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(number);
    return found == kernels_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::size_t, Kernel> kernels_;
};

}  // namespace tilejit::launch
