#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "driver/handles.hpp"
#include "operation/launch_plan.hpp"

namespace tilejit::launch {

/// The words in which a library's kernels note assertions that do not hold, in page-locked host
/// memory. Reports them to the context.
class Assertions final : public driver::Reporter {
 public:
  /// Has the global of `library` point to the words. The context is current, and the thread outside
  /// captures. Throws Error{driver_call}.
  Assertions(std::shared_ptr<const driver::Context> context, CUlibrary library,
             const operation::LaunchPlan& plan);
  ~Assertions() override;
  Assertions(const Assertions&) = delete;
  Assertions& operator=(const Assertions&) = delete;

  [[nodiscard]] std::string take() override;

 private:
  /// Owns the memory, also while the constructor of Assertions may throw.
  class Words {
   public:
    Words(std::shared_ptr<const driver::Context> context, std::size_t count);
    ~Words();
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;
    [[nodiscard]] const driver::Context& context() const noexcept { return *context_; }
    [[nodiscard]] std::span<std::uint64_t> all() const noexcept { return {first_, count_}; }

   private:
    std::shared_ptr<const driver::Context> context_;
    std::uint64_t* first_ = nullptr;
    std::size_t count_;
  };

  Words words_;
  std::vector<operation::Assertion> assertions_;
};

}  // namespace tilejit::launch
