#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::cli {

/// The metadata of an entry; an empty object if the text is no JSON object, or nests deeper
/// than 64.
[[nodiscard]] nlohmann::ordered_json parse_metadata(std::string_view text);

/// A member that is a string, or `missing`.
[[nodiscard]] std::string text_member(const nlohmann::ordered_json& metadata, const char* name,
                                      const std::string& missing = "?");

/// Values inside a document by their paths: plan.operands[0].dtype.
using Fields = std::map<std::string, std::string>;
[[nodiscard]] Fields fields_of(const nlohmann::ordered_json& document);

struct Difference {
  std::string field, wanted, other;
};
[[nodiscard]] std::vector<Difference> differences(const Fields& wanted, const Fields& other);

}  // namespace tilejit::cli
