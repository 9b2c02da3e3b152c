// The operations that there are: a row each. What is in a row's folder is known to nobody else.
#include "formula/json.hpp"
#include "spec/specs.hpp"

namespace tilejit::spec {

std::span<const Kind> kinds() noexcept {
  static constexpr Kind kKinds[] = {
      {.name = "fused",
       .read = [](const Json& json, const std::string& where, Problems& problems) -> Operation {
         return formula::read_fused(json, where, problems);
       }},
  };
  return kKinds;
}

}  // namespace tilejit::spec
