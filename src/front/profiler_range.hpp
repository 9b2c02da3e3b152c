#pragma once

#include <string_view>

namespace tilejit::front {

/// The name of a frequent range, registered with the profiler for the life of the process.
using RangeName = const void*;

/// Null if no profiler is attached or the library is built without NVTX. Thread-safe.
[[nodiscard]] RangeName range_name(std::string_view what, std::string_view kernel) noexcept;

/// Marks what this thread does until the end of the scope as a range of NVTX's domain "tilejit",
/// which Nsight Systems and similar tools show. Without a profiler it costs one comparison.
class ProfilerRange {
 public:
  /// Does nothing if `name` is null.
  explicit ProfilerRange(RangeName name) noexcept : open_(name != nullptr) {
    if (open_) [[unlikely]]
      push(name);
  }
  /// Named "compile tilejit_add_f16" and the like.
  ProfilerRange(std::string_view what, std::string_view kernel) noexcept;
  ~ProfilerRange() {
    if (open_) [[unlikely]]
      pop();
  }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

 private:
  static void push(RangeName name) noexcept;
  static void pop() noexcept;

  bool open_;
};

}  // namespace tilejit::front
