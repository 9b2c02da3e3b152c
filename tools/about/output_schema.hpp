#pragma once

#include <string_view>

namespace tilejit::cli {

/// The text of docs/output.schema.json. Its "$defs" has the schema of each document that --json
/// prints.
[[nodiscard]] std::string_view output_schema() noexcept;

}  // namespace tilejit::cli
