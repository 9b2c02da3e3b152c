#include "cuda/includes.hpp"

#include <optional>

namespace tilejit::cuda {
namespace {

std::string_view skip_spaces(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// Removes comments from the lines of a source, one after another.
class Comments {
 public:
  std::string without(std::string_view line) {
    std::string code;
    while (!line.empty()) {
      if (open_) {
        const std::size_t end = line.find("*/");
        if (end == std::string_view::npos) return code;
        line.remove_prefix(end + 2);
        open_ = false;
        code += ' ';
      } else if (line.starts_with("//")) {
        return code;
      } else if (line.starts_with("/*")) {
        line.remove_prefix(2);
        open_ = true;
      } else {
        code += line.front();
        line.remove_prefix(1);
      }
    }
    return code;
  }

 private:
  bool open_ = false;
};

/// The directive of a line without comments, "include <x>" of "# include <x>"; empty if none.
std::string_view directive_of(std::string_view code) noexcept {
  code = skip_spaces(code);
  return code.starts_with('#') ? skip_spaces(code.substr(1)) : std::string_view();
}

std::optional<Include> include_of(std::string_view directive) {
  if (!directive.starts_with("include")) return std::nullopt;
  directive = skip_spaces(directive.substr(7));
  if (directive.empty()) return std::nullopt;
  const bool quoted = directive.front() == '"';
  if (!quoted && directive.front() != '<') return std::nullopt;  // a macro
  const std::size_t end = directive.find(quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Include{.name = std::string(directive.substr(1, end - 1)), .quoted = quoted};
}

}  // namespace

std::vector<Include> find_includes(std::string_view text) {
  std::vector<Include> found;
  Comments comments;
  int depth = 0;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string code = comments.without(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view directive = directive_of(code);
    if (directive.starts_with("if")) ++depth;
    if (directive.starts_with("endif")) --depth;
    if (auto include = include_of(directive)) {
      include->line = line;
      include->conditional = depth > 0;
      found.push_back(*std::move(include));
    }
  }
  return found;
}

}  // namespace tilejit::cuda
