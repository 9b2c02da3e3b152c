#include "front/key.hpp"

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/json_line.hpp"
#include "front/ptxas_report.hpp"
#include "render/render.hpp"

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

std::string key_text(const plan::Plan& plan, std::string_view build, LineInfo line_info,
                     Effort effort) {
  core::JsonLine line;
  line.open('{')
      .member("compiler", build)
      .member("generator", render::generator_digest())
      .member("key_schema", kKeySchema)
      .key("options")
      .open('[');
  for (const std::string& option : all_options(effort)) line.value(option);
  if (line_info == LineInfo::yes) line.value(kLineInfoOption);
  line.close(']').key("plan").raw(plan::to_json(plan)).member("target", to_string(plan.target));
  return line.close('}').take();
}

std::string metadata_text(const plan::Plan& plan, const std::string& key_text,
                          const std::string& log, const std::string& compiler_version,
                          const StageTimes& times) {
  auto metadata = nlohmann::ordered_json::parse(key_text);
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
  return metadata.dump(2);
}

}  // namespace tilejit::front
