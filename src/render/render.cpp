#include "render/render.hpp"

#include <set>

#include "render/header_writer.hpp"
#include "render/several.hpp"
#include "render/templates.hpp"

namespace tilejit::render {
namespace {

/// Appends `text` with each #include "..." of a known header replaced by its text, once.
void append_flat(std::string_view text, const RenderedSource& source,
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

std::string render_header(const plan::Plan& plan) {
  Budget budget;
  if (!plan.stages.empty()) return render_headers_of_stages(plan, budget);
  return HeaderWriter(plan, budget).write();
}

RenderedSource render(const plan::Plan& plan) {
  Budget budget;
  return plan.stages.empty() ? render_kernel(plan, budget) : render_stages(plan, budget);
}

RenderedSource render_kernel(const plan::Plan& plan, Budget& budget) {
  RenderedSource source{.name = plan.kernel_name + ".cu", .text = {}, .headers = {}};
  const std::string kernel = std::string(plan::template_name(plan)) + ".cu";
  for (const Template& file : templates()) {
    if (file.name == kernel) {
      source.text = file.text;
    } else if (file.name.starts_with("tile/")) {
      source.headers.emplace_back(file.name, file.text);
    }
  }
  source.headers.emplace_back("plan.cuh", HeaderWriter(plan, budget).write());
  return source;
}

std::string flatten(const RenderedSource& source) {
  std::string out;
  std::set<std::string, std::less<>> done;
  append_flat(source.text, source, done, out);
  return out;
}

}  // namespace tilejit::render
