#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tilejit/error.hpp"
#include "tilejit/target.hpp"

namespace tilejit {

/// What happens for a kernel that no tier of the cache has.
enum class MissPolicy : std::uint8_t {
  allow,     ///< it is compiled
  warn,      ///< it is compiled, and a warning says so
  error,     ///< MissError
  fallback,  ///< Runtime::compile gives a more general kernel that was prepared; else MissError
};
/// "allow", "warn", "error", "fallback"
[[nodiscard]] std::string_view to_string(MissPolicy policy) noexcept;
/// Empty for any other text.
[[nodiscard]] std::optional<MissPolicy> parse_miss_policy(std::string_view text) noexcept;

/// The kernel most like a miss, of those that the process has had.
struct NearestKernel {
  std::string name = {};
  Target target = {};
  std::string field = {};    ///< the first that differs: "/tensors/x/layout", or "target"
  std::string wanted = {};   ///< its value in the descriptor that was asked for
  std::string present = {};  ///< its value in the nearest one
  std::size_t more = 0;      ///< further fields that differ
};

/// A kernel that is not there and may not be compiled (MissPolicy, seal): ErrorCode::missing.
class MissError : public Error {
 public:
  /// `why`: what forbids it.
  MissError(const std::string& kernel, const Target& target, const std::string& why,
            std::optional<NearestKernel> nearest);

  [[nodiscard]] const std::string& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const Target& target() const noexcept { return target_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// Empty if the process has had no kernel yet, or was sealed after it had asked.
  [[nodiscard]] const std::optional<NearestKernel>& nearest() const noexcept { return nearest_; }

 private:
  std::string kernel_;
  Target target_;
  std::string why_;
  std::optional<NearestKernel> nearest_;
};

}  // namespace tilejit
