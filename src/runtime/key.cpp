#include "runtime/key.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "render/render.hpp"
#include "runtime/compile_options.hpp"
#include "runtime/ptxas_report.hpp"

namespace tilejit::runtime {
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

std::string key_text(const plan::Plan& plan, std::string_view build) {
  // In the order of the names. No text in it needs an escape.
  return fmt::format(
      R"({{"compiler":"{}","generator":"{}","key_schema":{},"options":["{}"],"plan":{},)"
      R"("target":"{}"}})",
      build, render::generator_digest(), kKeySchema, fmt::join(all_options(), R"(",")"),
      plan::to_json(plan), to_string(plan.target));
}

std::string metadata_text(const plan::Plan& plan, const std::string& key_text,
                          const compile::Compiled& compiled, const std::string& compiler_version) {
  auto metadata = nlohmann::ordered_json::parse(key_text);  // whose dump is the key's text again
  metadata["kernel"] = plan.kernel_name;
  metadata["compiler_version"] = compiler_version;
  metadata["created"] = utc_now();
  metadata["nvrtc_ms"] = compiled.milliseconds;
  if (const auto report = parse_ptxas_report(compiled.log)) {
    metadata["registers"] = report->registers;
    metadata["spill_bytes"] = report->spill_bytes;
    metadata["shared_bytes"] = report->shared_bytes;
  }
  return metadata.dump(2);
}

}  // namespace tilejit::runtime
