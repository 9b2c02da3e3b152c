// Any bytes as a spec file: refused with a tilejit::Error, or read back from its own JSON
// unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tilejit/error.hpp"
#include "tilejit/operation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilejit;
  try {
    for (const Operation& op : parse_specs({reinterpret_cast<const char*>(data), size})) {
      if (!(parse_operation(to_json(op)) == op)) std::abort();
    }
  } catch (const Error&) {
    // Refused, like most inputs.
  }
  return 0;
}
