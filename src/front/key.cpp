#include "front/key.hpp"

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/json_line.hpp"
#include "front/ptxas_report.hpp"
#include "tilejit/cache/entry.hpp"
#include "tilejit/cache_identity.hpp"

namespace tilejit::front {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  std::array<char, 32> text = {};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), length};
}

}  // namespace

std::string key_text(const operation::Plan& plan, std::string_view build, LineInfo line_info,
                     Effort effort) {
  core::JsonLine line;
  line.open('{')
      .member("compiler", build)
      .member("generator", plan.body->generator())
      .member("key_schema", kKeySchema)
      .key("options")
      .open('[');
  for (const std::string& option : all_options(effort)) line.value(option);
  if (line_info == LineInfo::yes) line.value(kLineInfoOption);
  line.close(']').key("plan").raw(plan.body->json()).member("target", to_string(plan.target));
  return line.close('}').take();
}

std::string metadata_text(const operation::Plan& plan, const std::string& key_text,
                          const std::string& log, const std::string& compiler_version,
                          const StepTimes& times) {
  nlohmann::ordered_json metadata;
  metadata["kernel"] = plan.kernel_name;
  metadata["compiler_version"] = compiler_version;
  metadata["created"] = utc_now();
  metadata["milliseconds"] = {
      {"plan", times.plan}, {"render", times.render}, {"nvrtc", times.nvrtc}};
  if (const auto report = parse_ptxas_report(log)) {
    metadata["registers"] = report->registers;
    metadata["spill_bytes"] = report->spill_bytes;
    metadata["shared_bytes"] = report->shared_bytes;
  }
  // The key's own text comes first, on its own line, so that it can be hashed unchanged.
  return key_text.substr(0, key_text.size() - 1) + ",\n" + metadata.dump(2).substr(2);
}

}  // namespace tilejit::front

namespace tilejit {
namespace {

// The members of a JSON object before "kernel", without spaces: the text of the key, from metadata
// that may have been reformatted for people.
std::string key_text_of(std::string_view metadata) {
  std::string text;
  text.reserve(metadata.size());
  int depth = 0;
  bool named = false;  // whether the next text is the name of a member
  for (std::size_t at = 0; at < metadata.size(); ++at) {
    const char c = metadata[at];
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '"') {
      const std::size_t end = metadata.find_first_of("\"\\", at + 1);
      // Texts in a key have no escapes.
      if (end >= metadata.size() || metadata[end] != '"') return {};
      const std::string_view quoted = metadata.substr(at, end - at + 1);
      if (named && depth == 1 && quoted == "\"kernel\"") {
        if (text.back() == ',') text.pop_back();
        return text += '}';
      }
      text += quoted;
      at = end;
      named = false;
      continue;
    }
    depth += c == '{' || c == '[';
    depth -= c == '}' || c == ']';
    named = depth == 1 && (c == '{' || c == ',');
    text += c;
  }
  return text;
}

}  // namespace

bool is_entry_of(std::string_view key, std::string_view metadata) {
  std::string_view line = metadata.substr(0, metadata.find('\n'));
  if (line.ends_with(',')) {
    line.remove_suffix(1);
    if (cache::sha256_hex(std::string(line) + '}') == key) return true;
  }
  return cache::sha256_hex(key_text_of(metadata)) == key;
}

}  // namespace tilejit
