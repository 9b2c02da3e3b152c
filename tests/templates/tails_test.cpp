// What kernels load of the chunk of memory that lies across a tensor's end, in machine code.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "templates/machine_code.hpp"

namespace tilejit {
namespace {

/// Instructions of the kernel with that in their text.
std::ptrdiff_t count_instructions(const Fused& op, std::string_view text) {
  const std::vector<std::string> instructions = test::machine_code(op, "sm_90a");
  return std::ranges::count_if(
      instructions, [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

/// The last piece has one byte. It was written to the piece as a word, which the compiler left out,
/// with the load.
TEST(Tails, OfPairsOfBytesAreLoaded) {
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  EXPECT_GT(
      count_instructions({.name = "transpose",
                          .tensors = {{"x", u8, "(149,77):(1,150)"}, {"y", u8, "(149,77):(80,1)"}},
                          .formula = "y = x",
                          .tuning = {.vector = 4}},
                         "LDG.E.U8"),
      0);
}

/// A thread has three vectors, each of which is aligned. The compiler made one load of the 12 bytes
/// of the tensor's last one, too, which read 4 bytes beyond it.
TEST(Tails, OfThreeWordsAreNotReadByFour) {
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  const char* const rows = "(5,4099):(4099,1)";
  EXPECT_EQ(count_instructions({.name = "softmax",
                                .tensors = {{"x", f32, rows}, {"y", f32, rows}},
                                .formula = "e = exp(x - max(x)); y = e / sum(e)",
                                .axis = {1},
                                .tuning = {.vector = 4}},
                               "LDG.E.128"),
            3);
}

}  // namespace
}  // namespace tilejit
