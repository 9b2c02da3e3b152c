#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tilejit::cli {

/// The metadata of an entry; an empty object if the text is not a JSON object, or nests deeper than
/// 64 levels.
[[nodiscard]] nlohmann::ordered_json parse_metadata(std::string_view text);

/// The text of a member; `missing` if the member is missing or not a string.
[[nodiscard]] std::string text_member(const nlohmann::ordered_json& metadata, const char* name,
                                      const std::string& missing = "?");

}  // namespace tilejit::cli
