#pragma once

#include <cstdint>
#include <cstdlib>

namespace tilejit::test {

/// The number in an environment variable, such as TILEJIT_TEST_CASES; `otherwise` if it is not set.
inline std::uint64_t number_from_env(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace tilejit::test
