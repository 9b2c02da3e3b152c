#pragma once

#include <string>

#include "tilejit/error.hpp"

namespace tilejit::cli {

/// The error's message; without the place behind it, if the sentence names that place already.
[[nodiscard]] std::string sentence(const Error& error);

}  // namespace tilejit::cli
