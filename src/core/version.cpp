#include "tilejit/version.hpp"

namespace tilejit {

std::string_view version() noexcept {
  return TILEJIT_VERSION;
}

}  // namespace tilejit
