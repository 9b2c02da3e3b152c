#include "core/json_pointer.hpp"

namespace tilejit::core {

std::string pointer_to(const std::string& pointer, std::string_view token) {
  std::string result = pointer + "/";
  for (const char c : token.substr(0, 80)) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace tilejit::core
