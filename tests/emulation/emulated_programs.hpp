#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulation/emulated_launch.hpp"
#include "operation/plan.hpp"
#include "support/program_case.hpp"

namespace tilejit::test {

/// Kernels of tile programs, compiled for the CPU by the compiler that builds the tests.
class EmulatedPrograms {
 public:
  /// Plans and renders the program for sm_90a.
  void add(const std::string& what, ProgramCase c);
  [[nodiscard]] std::size_t size() const noexcept { return programs_.size(); }
  [[nodiscard]] bool compile();
  /// Runs program `i` on inputs from `next`, twice with different orders of threads. The results
  /// are equal bit for bit, and differ from the interpreter's by at most `tolerance`, relative to
  /// the magnitude 1 or that of the value. The program prints what the interpreter prints.
  void compare(std::size_t i, const std::function<double()>& next, double tolerance = 0);
  /// Runs program `i` on inputs from `next`. Returns the words of its assertions (note_failure in
  /// tile/assertion.cuh), 0 for those that hold.
  [[nodiscard]] std::vector<std::uint64_t> failures(std::size_t i,
                                                    const std::function<double()>& next);

 private:
  struct Emulated {
    std::string what;
    ProgramCase c;
    TileProgram program;
    operation::Plan plan;
  };
  [[nodiscard]] std::string source_of(std::size_t i) const;
  /// Returns the words of its assertions.
  std::vector<std::uint64_t> run(std::size_t i, std::vector<GuardedTensor>& tensors, unsigned seed);

  std::vector<Emulated> programs_;
  std::unique_ptr<const HostLibrary> library_;
};

}  // namespace tilejit::test
