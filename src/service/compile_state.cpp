#include "tilejit/compile_service.hpp"

namespace tilejit {

std::string_view to_string(CompileState state) noexcept {
  switch (state) {
    case CompileState::queued: return "queued";
    case CompileState::running: return "running";
    case CompileState::done: return "done";
    case CompileState::failed: return "failed";
    case CompileState::cancelled: return "cancelled";
  }
  return "unknown";
}

}  // namespace tilejit
