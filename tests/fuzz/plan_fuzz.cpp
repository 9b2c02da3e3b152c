// Any bytes as an operation over several axes: refused, or planned and rendered for three targets.
// A value reduced over one axis next to one reduced over another made the planner loop forever.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "support/axes_case.hpp"
#include "tilejit/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto made = [&]() -> std::optional<decltype(tilejit::test::axes_case({data, size}))> {
    try {
      return tilejit::test::axes_case({data, size});
    } catch (const tilejit::Error&) {  // strides beyond 2^63-1
      return std::nullopt;
    }
  }();
  if (made) (void)tilejit::test::check_plans(*made);
  return 0;
}
