#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tilejit::cli {

/// The metadata of an entry; an empty object if the text is no JSON object, or nests deeper
/// than 64.
[[nodiscard]] nlohmann::ordered_json parse_metadata(std::string_view text);

/// A member that is a string, or `missing`.
[[nodiscard]] std::string text_member(const nlohmann::ordered_json& metadata, const char* name,
                                      const std::string& missing = "?");

}  // namespace tilejit::cli
