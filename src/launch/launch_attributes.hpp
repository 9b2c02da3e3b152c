#pragma once

#include <array>
#include <span>

#include "driver/driver.hpp"
#include "tilejit/launch_options.hpp"

namespace tilejit::launch {

/// LaunchOptions in the form that the driver takes. A value, without allocation.
class LaunchAttributes {
 public:
  LaunchAttributes() = default;
  /// `options` have passed check_options.
  explicit LaunchAttributes(const LaunchOptions& options);

  /// For cuLaunchKernelEx.
  [[nodiscard]] std::span<const CUlaunchAttribute> all() const noexcept {
    return {list_.data(), count_};
  }
  /// The attributes of a graph's node: all except `overlap`, which is an edge in a graph.
  [[nodiscard]] std::span<const CUlaunchAttribute> of_node() const noexcept {
    return all().subspan(overlaps_);
  }
  [[nodiscard]] int shared_bytes() const noexcept { return shared_bytes_; }
  /// True if a launch without attributes does the same.
  [[nodiscard]] bool is_plain() const noexcept { return count_ == 0 && shared_bytes_ == 0; }

  void add(const CUlaunchAttribute& attribute) noexcept { list_[count_++] = attribute; }

 private:
  std::array<CUlaunchAttribute, 5> list_ = {};
  unsigned count_ = 0;
  unsigned overlaps_ = 0;  // 1 if the first of the list is `overlap`
  int shared_bytes_ = 0;
};

/// The attribute that lets a kernel start while the previous one ends.
[[nodiscard]] CUlaunchAttribute overlap_attribute() noexcept;

}  // namespace tilejit::launch
