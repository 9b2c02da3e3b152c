#pragma once

#include <array>
#include <span>

#include "driver/driver.hpp"
#include "tilejit/launch_options.hpp"

namespace tilejit::launch {

/// LaunchOptions as the driver takes them. A value, without allocation.
class LaunchAttributes {
 public:
  LaunchAttributes() = default;
  /// The options have been checked (check_options).
  explicit LaunchAttributes(const LaunchOptions& options);

  /// For cuLaunchKernelEx.
  [[nodiscard]] std::span<const CUlaunchAttribute> all() const noexcept {
    return {list_.data(), count_};
  }
  /// Those that a node of a graph has: without `overlap`, which is an edge there.
  [[nodiscard]] std::span<const CUlaunchAttribute> of_node() const noexcept {
    return all().subspan(overlaps_);
  }
  [[nodiscard]] int shared_bytes() const noexcept { return shared_bytes_; }
  /// True if a plain launch does the same.
  [[nodiscard]] bool is_plain() const noexcept { return count_ == 0 && shared_bytes_ == 0; }

  void add(const CUlaunchAttribute& attribute) noexcept { list_[count_++] = attribute; }

 private:
  std::array<CUlaunchAttribute, 5> list_ = {};
  unsigned count_ = 0;
  unsigned overlaps_ = 0;  // 1: the first of the list
  int shared_bytes_ = 0;
};

/// The attribute that lets a kernel start while the one before it ends.
[[nodiscard]] CUlaunchAttribute overlap_attribute() noexcept;

}  // namespace tilejit::launch
