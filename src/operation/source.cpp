#include "operation/source.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

namespace tilejit::operation {
namespace {

/// The name in #include "name" or #include <name>; empty if the line includes nothing.
std::string_view included_name(std::string_view line) noexcept {
  constexpr std::string_view kInclude = "#include ";
  if (!line.starts_with(kInclude)) return {};
  line.remove_prefix(kInclude.size());
  if (!line.starts_with('"') && !line.starts_with('<')) return {};
  return line.substr(1, line.find(line.front() == '"' ? '"' : '>', 1) - 1);
}

bool has_header(const Source& source, std::string_view name) {
  return std::ranges::any_of(source.headers,
                             [&](const auto& header) { return header.first == name; });
}

/// Appends `text`. The first #include of each known header is replaced by the header's text.
void append_flat(std::string_view text, const Source& source,
                 std::set<std::string, std::less<>>& done, std::string& out) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line == "#pragma once") continue;
    const std::string_view name = included_name(line);
    // The caller's own files may include what only a compiler finds.
    if (name.empty() || (source.own && !has_header(source, name))) {
      (out += line) += '\n';
      continue;
    }
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
