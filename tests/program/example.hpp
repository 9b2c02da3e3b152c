#pragma once

#include <string>

#include "support/program_case.hpp"

namespace tilejit::program {

/// The text of examples/programs/`file`, TL or JSON.
inline std::string example(const std::string& file) {
  return test::program_example(file);
}

}  // namespace tilejit::program
