#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulation/emulated_launch.hpp"
#include "plan/plan.hpp"
#include "support/random_case.hpp"

namespace tilejit::test {

/// The number of random operations in a test: `usual`, or TILEJIT_TEST_CASES if set.
[[nodiscard]] int random_cases(int usual);

/// Hopper without what only sm_90a has, and with it.
inline constexpr Target kPlainHopper = {.major = 9, .minor = 0, .feature = 0};
inline constexpr Target kHopper = {.major = 9, .minor = 0, .feature = 'a'};

/// Kernels of operations, compiled for the CPU by the compiler that builds the tests.
class EmulatedKernels {
 public:
  explicit EmulatedKernels(Target target = kPlainHopper) : target_(target) {}

  /// Plans and renders `c`. Operations with f8 cannot run: their conversions are instructions of
  /// the device.
  void add(const std::string& what, RandomCase c);
  /// The same with its blocks counted along mode `first` first, which only large spaces have.
  void add_ordered(const std::string& what, RandomCase c, std::size_t first);
  /// The same with its light plan. Returns false if it has none.
  bool add_light(const std::string& what, RandomCase c);
  /// Replaces the first `from` in the text of the last one, to see that it then goes wrong.
  void change(const std::string& from, const std::string& to);
  [[nodiscard]] static bool can_run(const Fused& op);
  /// The templates of the operation's kernels, each followed by a space.
  [[nodiscard]] static std::string templates_of(const Fused& op, Target target = kPlainHopper);
  /// Compiles everything that was added. Returns false if the compiler failed; its message is
  /// shown.
  [[nodiscard]] bool compile();
  /// Runs kernel `i` on random inputs, twice with different thread orders, and returns what is
  /// wrong: with the kernel, with its results, or between the two. Empty if nothing is.
  [[nodiscard]] std::string wrong(std::size_t i, Random& random) const;
  /// Expects that nothing is wrong with any; that something is with each.
  void verify_all(Random& random);
  void expect_all_wrong(Random& random) const;
  /// The same for kernel `i` with inputs from `next`. Returns its tensors after the first run.
  std::vector<GuardedTensor> verify(std::size_t i, const std::function<double()>& next);

 private:
  struct Emulated {
    std::string what;
    RandomCase c;
    plan::Plan plan;
    std::vector<std::pair<std::string, std::string>> changes;
  };
  using Fill = std::function<void(GuardedTensor&)>;
  [[nodiscard]] std::string source_of(std::size_t i) const;
  [[nodiscard]] std::string run(std::size_t i, std::vector<GuardedTensor>& tensors,
                                EmulatedWorkspaces& workspaces, unsigned seed) const;
  [[nodiscard]] std::string run_filled(std::size_t i, const Fill& fill,
                                       std::vector<GuardedTensor>& result) const;

  Target target_;
  std::vector<Emulated> kernels_;
  std::unique_ptr<const HostLibrary> library_;
};

}  // namespace tilejit::test
