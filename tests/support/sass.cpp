#include "support/sass.hpp"

#include <cstdlib>
#include <optional>
#include <regex>
#include <sstream>

#include "compile/disassemble.hpp"
#include "support/source_dir.hpp"

namespace tilejit::test {
namespace {

const std::optional<std::filesystem::path>& disassembler() {
  static const std::optional<std::filesystem::path> found = [] {
    const char* const path = std::getenv("PATH");
    const std::string own = (source_dir() / ".deps/nvdisasm/bin").string();
    return compile::find_disassembler((path == nullptr ? "" : std::string(path) + ':') + own, {});
  }();
  return found;
}

}  // namespace

bool has_disassembler() {
  return disassembler().has_value();
}

std::map<std::string, std::vector<std::string>> sass_of(std::string_view cubin) {
  static const std::regex kFunction(R"(^\s*(?:Function : |\.text\.)(\w+):?\s*$)");
  static const std::regex kInstruction(R"(^\s*/\*[0-9a-f]{4,}\*/\s+([^;]*[A-Z]{2}[^;]*);)");
  std::map<std::string, std::vector<std::string>> kernels;
  std::istringstream text(compile::disassemble(disassembler().value(), cubin));
  std::vector<std::string>* current = nullptr;
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    if (line.size() < 200 && std::regex_match(line, match, kFunction)) {
      current = &kernels[match[1]];
    } else if (current != nullptr && std::regex_search(line, match, kInstruction)) {
      current->push_back(match[1]);
    }
  }
  return kernels;
}

}  // namespace tilejit::test
