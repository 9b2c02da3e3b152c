#pragma once

#include <string_view>

namespace tilejit::cli {

/// docs/output.schema.json: under "$defs" the schema of each document that --json prints.
[[nodiscard]] std::string_view output_schema() noexcept;

}  // namespace tilejit::cli
