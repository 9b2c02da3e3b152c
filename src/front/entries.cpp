#include "front/entries.hpp"

#include <algorithm>

#include "tilejit/error.hpp"

namespace tilejit::front {

std::vector<std::string> entries_of(std::string_view cubin) {
  constexpr std::string_view kSection = ".text.";
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = cubin.find(kSection, at)) != cubin.npos;) {
    at += kSection.size();
    std::string name(cubin.substr(at, cubin.substr(at).find('\0')));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

void require_entries(const operation::Plan& plan, const operation::Source& source,
                     std::string_view cubin) {
  if (!source.own) return;
  const std::vector<std::string> entries = entries_of(cubin);
  for (const operation::Step& step : plan.body->launch().steps) {
    if (std::ranges::find(entries, step.entry) != entries.end()) continue;
    std::string there;
    for (const std::string& entry : entries) there += (there.empty() ? "" : ", ") + entry;
    throw Error(ErrorCode::compile_failed,
                source.name + " has no kernel '" + step.entry +
                    "'; declare it extern \"C\" __global__, or name one in \"entry\"; it has " +
                    (there.empty() ? "none" : there),
                "/entry");
  }
}

}  // namespace tilejit::front
