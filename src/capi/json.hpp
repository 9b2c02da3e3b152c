#pragma once

#include <nlohmann/json.hpp>

#include "capi/guard.hpp"

namespace tilejit::capi {

/// JSON text for the caller. Bytes that are not UTF-8 are replaced.
inline char* json_text(const nlohmann::ordered_json& document) {
  return copy_text(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace tilejit::capi
