#include "capi/guard.hpp"
#include "capi/parse.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/version.hpp"

namespace tilejit::capi {

Operation parse_spec(const char* spec, const Options& options, const char* name) {
  std::vector<Operation> kernels =
      parse_specs(required_text(spec, name), nullptr, {.allow_source = options.allow_source});
  if (kernels.size() == 1) return std::move(kernels.front());
  throw Error(ErrorCode::invalid_spec,
              "the spec has " + std::to_string(kernels.size()) + " kernels; pass them one by one",
              "/kernels");
}

Target parse_target_text(const char* target) {
  return parse_target(required_text(target, "target"));
}

}  // namespace tilejit::capi

using namespace tilejit;
using namespace tilejit::capi;

extern "C" {

uint32_t tj_abi_version(void) {
  return TJ_ABI_VERSION;
}

const char* tj_version(void) {
  return version().data();  // a literal
}

tj_status tj_validate(const char* spec) {
  return guarded([&] { validate(parse_spec(spec, Options::from_env())); });
}

const char* tj_spec_schema(void) {
  return spec_schema().data();  // a literal
}

tj_status tj_render_plan(const char* spec, const char* target, char** json) {
  return guarded([&] {
    (void)required(json, "json");
    *json =
        copy_text(render_plan(parse_spec(spec, Options::from_env()), parse_target_text(target)));
  });
}

tj_status tj_render_source(const char* spec, const char* target, char** source) {
  return guarded([&] {
    (void)required(source, "source");
    *source =
        copy_text(render_source(parse_spec(spec, Options::from_env()), parse_target_text(target)));
  });
}

}  // extern "C"
