#include "emulation/emulation_library.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <fstream>

#include "support/source_dir.hpp"

namespace tilejit::test {

std::unique_ptr<const HostLibrary> compile_emulated(const std::string& text) {
  std::string whole;
  for (const char* header : {"device.hpp", "warp_product.hpp"}) {
    whole += "#include \"" + source_dir().string() + "/tests/emulation/" + header + "\"\n";
  }
  whole +=
      "extern \"C\" const char* take_printed() {\n  static std::string taken;\n"
      "  taken = std::exchange(emulation::printed, {});\n  return taken.c_str();\n}\n";
  whole += text;
  try {
    return std::make_unique<const HostLibrary>(whole, "-std=c++20 -U_FORTIFY_SOURCE");
  } catch (const std::exception& error) {
    ADD_FAILURE() << std::string(error.what()).substr(0, 200);
    if (const char* const kept = std::getenv("TILEJIT_KEEP_EMULATED")) std::ofstream(kept) << whole;
    return nullptr;
  }
}

}  // namespace tilejit::test
