// Any bytes as a tile program, in TL text or JSON: a program or an Error of the documented codes,
// nothing else. What is valid is printed in both forms and read back, and becomes a kernel's text
// or is refused. Bytes that are the spec of a formula become a program, or are refused.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "operation/descriptor.hpp"
#include "tilejit/error.hpp"
#include "tilejit/program.hpp"

namespace {

bool is_expected(tilejit::ErrorCode code) {
  using tilejit::ErrorCode;
  return code == ErrorCode::invalid_formula || code == ErrorCode::invalid_spec ||
         code == ErrorCode::invalid_layout || code == ErrorCode::invalid_argument ||
         code == ErrorCode::unsupported;
}

void check_formula(std::string_view text) {
  try {
    const tilejit::TileProgram program = tilejit::to_program(tilejit::parse_fused(text));
    if (!(tilejit::parse_program(tilejit::to_tl(program)) == program)) std::abort();
  } catch (const tilejit::Error& error) {
    if (!is_expected(error.code())) std::abort();
  }
}

/// The plan and the text of its kernel; its JSON is part of a key, which has no escapes.
void check_kernel(const tilejit::Operation& op, const char* target) {
  const tilejit::operation::Plan plan = op.descriptor().plan(tilejit::parse_target(target));
  if (plan.body->json().find_first_of("\\\n") != std::string::npos) std::abort();
  (void)plan.body->source();
  (void)plan.body->launch();
  (void)plan.body->text({});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const tilejit::TileProgram program = tilejit::parse_program(text);
    (void)tilejit::to_tl(program);
    validate(program);
    const std::string tl = tilejit::to_tl(program);
    const tilejit::TileProgram of_tl = tilejit::parse_program(tl);
    if (tilejit::to_tl(of_tl) != tl || !(of_tl == program)) std::abort();
    const tilejit::TileProgram of_json = tilejit::parse_program(tilejit::to_json(program));
    if (!(of_json == program)) std::abort();
    check_kernel(program, size % 2 == 0 ? "sm_80" : "sm_90a");
  } catch (const tilejit::Error& error) {
    if (!is_expected(error.code())) std::abort();
  }
  check_formula(text);
  return 0;
}
