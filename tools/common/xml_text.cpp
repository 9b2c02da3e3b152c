#include "common/xml_text.hpp"

#include "tilejit/printable.hpp"

namespace tilejit::cli {

std::string escaped_xml(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

}  // namespace tilejit::cli
