// All operations, one row each. No other code knows what is in an operation's folder.
#include "cuda/json.hpp"
#include "formula/json.hpp"
#include "program/json.hpp"
#include "spec/specs.hpp"

namespace tilejit::spec {

std::span<const Kind> kinds() noexcept {
  static constexpr Kind kKinds[] = {
      {.name = "fused",
       .read = [](const Json& json, const std::string& where, const SpecOptions&,
                  Problems& problems) -> Operation {
         return formula::read_fused(json, where, problems);
       }},
      {.name = "cuda", .read = cuda::read_kernel},
      {.name = "program",
       .read = program::read_program,
       .is_text = program::is_tl,
       .descriptor_of_text = program::descriptor_of_text},
  };
  return kKinds;
}

}  // namespace tilejit::spec
