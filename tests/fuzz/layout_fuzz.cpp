// Any bytes as layout text: refused with a tilejit::Error, or parse_layout(to_string(x)) == x.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tilejit/error.hpp"
#include "tilejit/layout.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilejit;
  try {
    const Layout layout = parse_layout({reinterpret_cast<const char*>(data), size});
    if (!(parse_layout(to_string(layout)) == layout)) std::abort();
    (void)cosize(layout);
  } catch (const Error&) {
    // Refused, like most inputs.
  }
  return 0;
}
