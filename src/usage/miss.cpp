#include "tilejit/miss.hpp"

#include <utility>

namespace tilejit {
namespace {

std::string sentence(const std::string& kernel, const Target& target, const std::string& why,
                     const std::optional<NearestKernel>& nearest) {
  std::string text =
      "there is no kernel '" + kernel + "' for " + to_string(target) + ", and " + why + "; ";
  if (!nearest) return text + "warm it ahead (tilejit warm)";
  text += "the nearest, '" + nearest->name + "' for " + to_string(nearest->target) +
          ", differs in " + nearest->field + ": " + nearest->present + ", not " + nearest->wanted;
  if (nearest->more > 0) text += ", and " + std::to_string(nearest->more) + " more";
  return text + "; warm it ahead (tilejit warm)";
}

}  // namespace

std::string_view to_string(MissPolicy policy) noexcept {
  switch (policy) {
    case MissPolicy::allow: return "allow";
    case MissPolicy::warn: return "warn";
    case MissPolicy::error: return "error";
    case MissPolicy::fallback: return "fallback";
  }
  return "unknown";
}

std::optional<MissPolicy> parse_miss_policy(std::string_view text) noexcept {
  for (const MissPolicy policy :
       {MissPolicy::allow, MissPolicy::warn, MissPolicy::error, MissPolicy::fallback}) {
    if (text == to_string(policy)) return policy;
  }
  return std::nullopt;
}

MissError::MissError(const std::string& kernel, const Target& target, const std::string& why,
                     std::optional<NearestKernel> nearest)
    : Error(ErrorCode::missing, sentence(kernel, target, why, nearest)),
      kernel_(kernel),
      target_(target),
      why_(why),
      nearest_(std::move(nearest)) {}

}  // namespace tilejit
