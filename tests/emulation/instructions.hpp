#pragma once

#include "operation/source.hpp"

namespace tilejit::test {

/// Replaces the device's instructions in the headers of `source` by text for the CPU.
void emulate_instructions(operation::Source& source);

}  // namespace tilejit::test
