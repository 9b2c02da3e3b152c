#include "front/ptxas_report.hpp"

#include <gtest/gtest.h>

namespace tilejit::front {
namespace {

constexpr const char* kOneEntry = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, used 0 barriers
ptxas info    : Compile time = 3.966 ms
)";
constexpr const char* kTwoEntries = R"(k.cu(3): warning #177-D: variable "x" was declared
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative stack size, 1024 bytes smem
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers)";

TEST(PtxasReport, ReadsOneEntry) {
  EXPECT_EQ(parse_ptxas_report(kOneEntry), (PtxasReport{.registers = 14}));
}

TEST(PtxasReport, TakesTheLargestOfSeveralEntries) {
  EXPECT_EQ(parse_ptxas_report(kTwoEntries),
            (PtxasReport{.registers = 40, .spill_bytes = 16, .shared_bytes = 1024}));
}

TEST(PtxasReport, IsNothingWithoutOne) {
  for (const char* log : {"", "\n\n", "warning: no registers", " registers", "Used registers"}) {
    EXPECT_EQ(parse_ptxas_report(log), std::nullopt) << log;
  }
}

}  // namespace
}  // namespace tilejit::front
