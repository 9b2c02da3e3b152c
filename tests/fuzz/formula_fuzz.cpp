// Any bytes as a formula over tensors of several types: refused by tilejit::Error, or rendered.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilejit/compiler.hpp"
#include "tilejit/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilejit;
  const Fused op{.name = "fuzz",
                 .tensors = {{"x", f32, "(3,8):(8,1)"},
                             {"h", f16, "(3,8):(8,1)"},
                             {"n", i32, "(3,8):(8,1)"},
                             {"b", b8, "(1,8):(8,1)"},
                             {"y", f32, "(3,8):(8,1)"}},
                 .scalars = {{.name = "s", .dtype = f32, .example = {}}},
                 .functions = {{.name = "twice", .args = {"a"}, .expr = "a + a"}},
                 .formula = std::string(reinterpret_cast<const char*>(data), size)};
  try {
    if (render_source(op, Target{}).empty()) std::abort();
  } catch (const Error&) {
    // Refused, as most inputs are.
  }
  return 0;
}
