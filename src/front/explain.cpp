#include "tilejit/explain.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/json_line.hpp"
#include "front/compiler_impl.hpp"

namespace tilejit {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kColumns = 100;
constexpr std::size_t kIndent = 13;  // column at which sentences start

struct Explained {
  operation::Plan plan;
  operation::Explanation explanation;
};

Explained explain(const Operation& op, const Target& target,
                  const std::optional<KernelResources>& resources) {
  std::optional<operation::Compiled> compiled;
  if (resources) {
    compiled = {resources->registers, resources->spill_bytes, resources->static_shared_bytes};
  }
  operation::Plan plan = op.descriptor().plan(target);
  operation::Explanation explanation = plan.body->explain(front::examples_of(op), compiled);
  return {std::move(plan), std::move(explanation)};
}

/// A sentence from column `kIndent` on, broken at spaces. Its first line follows `head`.
std::string paragraph(std::string head, const std::string& sentence) {
  head.resize(kIndent, ' ');
  std::string text, line = std::move(head);
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
    const bool fresh = line.find_last_not_of(' ') == std::string::npos || line.size() == kIndent;
    if (!fresh && line.size() + 1 + end - at > kColumns) {
      text += line + '\n';
      line.assign(kIndent, ' ');
    } else if (!fresh) {
      line += ' ';
    }
    line.append(sentence, at, end - at);
    at = end + 1;
  }
  return text + line + '\n';
}

std::string paragraphs(const std::string& name, const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    text += paragraph(text.empty() ? "  " + name : "", sentence);
  }
  return text;
}

}  // namespace

std::optional<KernelResources> resources_of(const Artifact& artifact) {
  const auto metadata = ordered_json::parse(*artifact.metadata, nullptr, false);
  if (!metadata.is_object() || !metadata.contains("registers")) return std::nullopt;
  return KernelResources{.registers = metadata.value("registers", 0),
                         .spill_bytes = metadata.value("spill_bytes", 0),
                         .static_shared_bytes = metadata.value("shared_bytes", 0)};
}

std::string explain_plan(const Operation& op, const Target& target,
                         const std::optional<KernelResources>& resources) {
  const Explained explained = explain(op, target, resources);
  std::string text = explained.plan.kernel_name + " for " + to_string(target) + '\n';
  for (const operation::Topic& topic : explained.explanation.topics) {
    text += paragraphs(topic.name, topic.sentences);
  }
  const std::vector<std::string>& advice = explained.explanation.advice;
  return text + paragraphs("advice", advice.empty()
                                         ? std::vector<std::string>{"Nothing stands out; tilejit "
                                                                    "tune measures the knobs."}
                                         : advice);
}

std::string explain_plan_json(const Operation& op, const Target& target,
                              const std::optional<KernelResources>& resources) {
  const Explained explained = explain(op, target, resources);
  const operation::Explanation& explanation = explained.explanation;
  ordered_json topics = ordered_json::object();
  for (const operation::Topic& topic : explanation.topics) topics[topic.name] = topic.sentences;
  ordered_json json = {{"kernel", explained.plan.kernel_name},
                       {"target", to_string(target)},
                       {"template", explained.plan.body->family()},
                       {"topics", std::move(topics)},
                       {"advice", explanation.advice},
                       {"occupancy",
                        {{"blocks", explanation.occupancy.blocks},
                         {"threads", explanation.occupancy.threads},
                         {"part", explanation.occupancy.part},
                         {"limit", explanation.occupancy.limit}}},
                       {"bytes_in_flight_needed", explanation.bytes_needed},
                       {"bytes_in_flight_issued", explanation.bytes_issued}};
  if (explanation.operations) json["operations"] = *explanation.operations;
  if (resources) {
    json["resources"] = {{"registers", resources->registers},
                         {"spill_bytes", resources->spill_bytes},
                         {"static_shared_bytes", resources->static_shared_bytes}};
  }
  std::string text = json.dump();
  text.pop_back();  // another member follows
  text += ",\"figures\":" + explained.plan.body->figures_json(front::examples_of(op));
  return core::indented(text + '}');
}

}  // namespace tilejit
