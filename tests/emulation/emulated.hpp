#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "support/random_case.hpp"

namespace tilejit::test {

/// Kernels of operations, compiled for the CPU by the compiler that builds the tests.
class EmulatedKernels {
 public:
  EmulatedKernels();
  ~EmulatedKernels();
  EmulatedKernels(const EmulatedKernels&) = delete;
  EmulatedKernels& operator=(const EmulatedKernels&) = delete;

  /// Plans and renders `c`, for sm_90a. Clusters, and operations with f16, f8 or tf32, are not
  /// possible: they are instructions of the device.
  void add(const std::string& what, RandomCase c);
  /// Compiles what was added. False: the compiler failed, and has said why.
  [[nodiscard]] bool compile();
  /// Runs every kernel on random inputs, twice with threads in another order, and checks that the
  /// results agree with the reference, and bit for bit with each other.
  void verify_all(Random& random);

 private:
  struct Emulated {
    std::string what;
    RandomCase c;
    plan::Plan plan;
  };
  void verify(std::size_t i, Random& random);
  [[nodiscard]] std::string source_of(std::size_t i) const;

  std::vector<Emulated> kernels_;
  std::string folder_;
  void* library_ = nullptr;
};

}  // namespace tilejit::test
