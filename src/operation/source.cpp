#include "operation/source.hpp"

#include <functional>
#include <set>
#include <string_view>

namespace tilejit::operation {
namespace {

/// Appends `text`. The first #include "..." of each known header is replaced by the header's text.
void append_flat(std::string_view text, const Source& source,
                 std::set<std::string, std::less<>>& done, std::string& out) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line == "#pragma once") continue;
    if (!line.starts_with("#include \"")) {
      (out += line) += '\n';
      continue;
    }
    const std::string_view name = line.substr(10, line.find('"', 10) - 10);
    if (!done.emplace(name).second) continue;
    for (const auto& [header, contents] : source.headers) {
      if (header == name) append_flat(contents, source, done, out);
    }
  }
}

}  // namespace

std::string flatten(const Source& source) {
  std::string out;
  std::set<std::string, std::less<>> done;
  append_flat(source.text, source, done, out);
  return out;
}

}  // namespace tilejit::operation
