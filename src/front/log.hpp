#pragma once

#include <string>

namespace tilejit::front {

/// Sends a warning to spdlog's logger named "tilejit": the application's, if it has registered one,
/// else our own, which writes to stderr. The message is made printable (printable.hpp). Never
/// throws. Thread-safe.
void warn(const std::string& message) noexcept;

}  // namespace tilejit::front
