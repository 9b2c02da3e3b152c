#pragma once

#include <string>

namespace tilejit::test {

/// A spec around `tensors` and `formula`.
inline std::string spec_of(const std::string& tensors, const std::string& formula,
                           const std::string& more = "") {
  return R"({"name": "t", "tensors": {)" + tensors + R"(}, "formula": ")" + formula + "\"" + more +
         "}";
}

inline const char* const kAdd =
    R"("a": {"dtype": "f16", "shape": ["M", 8]}, "c": {"dtype": "f16", "shape": ["M", 8]})";

}  // namespace tilejit::test
