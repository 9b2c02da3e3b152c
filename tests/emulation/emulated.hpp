#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulation/emulation_library.hpp"
#include "plan/plan.hpp"
#include "support/random_case.hpp"

namespace tilejit::test {

/// The number of random operations in a test: `usual`, or TILEJIT_TEST_CASES if set.
[[nodiscard]] int random_cases(int usual);

/// Kernels of operations, compiled for the CPU by the compiler that builds the tests.
class EmulatedKernels {
 public:
  /// Plans and renders `c` for sm_90a, without clusters. Operations with f16, f8 or tf32 cannot
  /// run: their conversions are instructions of the device.
  void add(const std::string& what, RandomCase c);
  /// The same with its light plan. Returns false if it has none.
  bool add_light(const std::string& what, RandomCase c);
  [[nodiscard]] static bool can_run(const Fused& op);
  /// The templates of the operation's kernels, each followed by a space.
  [[nodiscard]] static std::string templates_of(const Fused& op);
  /// Compiles everything that was added. Returns false if the compiler failed; its message is
  /// shown.
  [[nodiscard]] bool compile();
  /// Runs every kernel on random inputs, twice with different thread orders, and checks that the
  /// results agree with the reference, and bit for bit with each other.
  void verify_all(Random& random);
  /// The same for kernel `i` with inputs from `next`. Returns its tensors after the first run.
  std::vector<GuardedTensor> verify(std::size_t i, const std::function<double()>& next);

 private:
  struct Emulated {
    std::string what;
    RandomCase c;
    plan::Plan plan;
  };
  /// One launch of one kernel of a case.
  struct Run {
    std::array<std::size_t, 2> entry;  ///< numbers of the case and of its kernel
    const plan::Plan& plan;
    const SymbolValues& symbols;
    unsigned seed;
  };
  void run(const Run& what, const std::vector<std::byte>& params) const;
  using Fill = std::function<void(GuardedTensor&)>;
  std::vector<GuardedTensor> verify_filled(std::size_t i, const Fill& fill) const;
  [[nodiscard]] std::string source_of(std::size_t i) const;

  std::vector<Emulated> kernels_;
  std::unique_ptr<const HostLibrary> library_;
};

}  // namespace tilejit::test
