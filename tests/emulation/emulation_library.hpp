#pragma once

#include <memory>
#include <string>

#include "support/host_library.hpp"

namespace tilejit::test {

/// The kernels in `text`, compiled for the CPU over device.hpp. `take_printed` returns what they
/// have printed since it was called before. If they do not compile, the test fails, and the result
/// is null; TILEJIT_KEEP_EMULATED names a file that the text is then left in.
[[nodiscard]] std::unique_ptr<const HostLibrary> compile_emulated(const std::string& text);

}  // namespace tilejit::test
