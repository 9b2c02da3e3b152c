#pragma once

#include <string>

#include "tilejit/error.hpp"

namespace tilejit::cli {

/// The error's message, without the place after it if the sentence already names that place.
[[nodiscard]] std::string sentence(const Error& error);

}  // namespace tilejit::cli
