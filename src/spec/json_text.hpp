#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tilejit::spec {

/// JSON with the members of objects in the order of the text.
using Json = nlohmann::ordered_json;

/// What nlohmann's JSON threw, without its own name for it: "key 'class' not found".
[[nodiscard]] std::string fault_text(const nlohmann::json::exception& error);

/// Parses `text`. Throws Error{invalid_spec}: empty, not JSON, not UTF-8 or a number beyond double
/// (with line and column), a key given twice (with its pointer), nested more than 100 levels, or
/// more than a million values.
[[nodiscard]] Json parse_json(std::string_view text);

}  // namespace tilejit::spec
