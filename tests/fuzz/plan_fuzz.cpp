// Any bytes as an operation over several axes: refused, or planned and rendered for three targets.
// A value reduced over one axis beside one reduced over another kept the planner busy for ever.
#include <cstddef>
#include <cstdint>

#include "support/axes_case.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)tilejit::test::check_plans(tilejit::test::axes_case({data, size}));
  return 0;
}
