#pragma once

#include <string>

#include "operation/source.hpp"

namespace tilejit::test {

/// `source` as one text for the CPU, behind the headers of tests/emulation: headers of the device
/// library that tests/emulation/tile has are replaced, and instructions become calls of functions.
[[nodiscard]] std::string text_for_cpu(operation::Source source);

}  // namespace tilejit::test
