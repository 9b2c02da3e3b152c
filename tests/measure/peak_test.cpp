// The kernels that measure how fast a device multiplies, compiled for a target of either kind.
#include <gtest/gtest.h>

#include <regex>

#include "measure/peak_kernel.hpp"
#include "support/sass.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit {
namespace {

struct PeakCase {
  DType a, b;
  const char* instruction;  // where the target has tensor cores for it
};
constexpr PeakCase kPeaks[] = {
    {bf16, bf16, "HG?MMA"}, {tf32, tf32, "HG?MMA"},         {f32, f32, "FFMA"},
    {f64, f64, "DMMA"},     {f8e5m2, f8e4m3, "QGMMA|FFMA"}, {u8, i8, "IG?MMA"},
};

class Peaks : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, Peaks, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Peaks, KernelsMultiplyInRegisters) {
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  static const std::regex kForbidden(R"(\b(LDL|STL)\b)");
  Options options;
  options.cache_folder.reset();
  Compiler compiler(options);
  const Target target = parse_target(GetParam());
  for (const PeakCase& one : kPeaks) {
    SCOPED_TRACE(std::string(to_string(one.a)) + ", " + std::string(to_string(one.b)));
    const measure::PeakKernel kernel = measure::peak_kernel(one.a, one.b, target);
    EXPECT_GT(kernel.flop, 5e7);
    const Artifact artifact = compiler.compile(measure::peak_operation(kernel, 7), target);
    const std::regex multiplies(one.instruction);
    int count = 0;
    for (const auto& [name, code] : test::sass_of(*artifact.cubin)) {
      for (const std::string& instruction : code) {
        count += std::regex_search(instruction, multiplies);
        EXPECT_FALSE(std::regex_search(instruction, kForbidden)) << instruction;
      }
    }
    EXPECT_GE(count, 8);
  }
}

}  // namespace
}  // namespace tilejit
