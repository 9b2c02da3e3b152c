#include "render/several.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace tilejit::render {
namespace {

constexpr std::string_view kInclude = "#include \"";
constexpr std::string_view kDefine = "#define ";
constexpr std::string_view kSharedHeaders = "#include \"tile/";
constexpr std::string_view kOwnHeader = "#include \"plan.cuh\"";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string name_of(std::size_t part) {
  return "part" + std::to_string(part);
}

/// A part's texts, made to stand in a namespace.
class Part {
 public:
  Part(const operation::Source& source, std::size_t number) : number_(number) {
    for (const auto& [name, text] : source.headers) {
      if (name == "plan.cuh") header_ = inner(text);
    }
    text_ = "\nnamespace " + name_of(number) + " {\n" + inner(source.text) + "}\n";
    for (const std::string& macro : macros_) text_ += "#undef " + macro + "\n";
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::string& header() const noexcept { return header_; }
  [[nodiscard]] const std::vector<std::string>& includes() const noexcept { return includes_; }

 private:
  /// `text` without the lines that belong outside the namespace.
  std::string inner(std::string_view text) {
    std::string out;
    for (const std::string_view line : lines_of(text)) {
      if (line.starts_with(kSharedHeaders)) {
        includes_.emplace_back(line);
        continue;
      }
      if (line.starts_with(kOwnHeader)) {
        (out += kInclude).append(name_of(number_)).append(".cuh\"\n");
        continue;
      }
      if (line.starts_with(kDefine)) {
        const std::string_view rest = line.substr(kDefine.size());
        macros_.emplace(rest.substr(0, rest.find_first_of(" (\n")));
      }
      out += line;
    }
    return out;
  }

  std::size_t number_;
  std::string header_, text_;
  std::vector<std::string> includes_;
  std::set<std::string> macros_;
};

}  // namespace

operation::Source render_parts(const plan::Plan& plan, Budget& budget) {
  operation::Source whole{.name = plan.kernel_name + ".cu", .text = {}, .headers = {}};
  std::string parts;
  std::set<std::string> included;
  for (const plan::Plan& one : plan::parts_of(plan)) {
    const std::size_t number = whole.headers.size();
    const Part part(render_kernel(one, budget), number);
    for (const std::string& include : part.includes()) {
      if (included.insert(include).second) whole.text += include;
    }
    parts += part.text();
    whole.headers.emplace_back(name_of(number) + ".cuh", part.header());
  }
  whole.text += parts;
  for (auto& header : render(plan::parts_of(plan).front()).headers) {
    if (header.first != "plan.cuh") whole.headers.push_back(std::move(header));
  }
  return whole;
}

}  // namespace tilejit::render
