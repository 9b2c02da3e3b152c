#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tilejit::spec {

/// JSON whose objects keep their members in the order of the text.
using Json = nlohmann::ordered_json;

/// The message of nlohmann's exception without the library's prefix: "key 'class' not found".
[[nodiscard]] std::string fault_text(const nlohmann::json::exception& error);

/// Parses `text`. Throws Error{invalid_spec}: empty, not JSON, not UTF-8 or a number beyond double
/// (with line and column); a duplicate key (with its pointer); more than 100 levels of nesting, or
/// more than a million values.
[[nodiscard]] Json parse_json(std::string_view text);

}  // namespace tilejit::spec
