#pragma once

#include <string>

namespace tilejit::cli {

/// `text` as it stands in an XML element or attribute.
[[nodiscard]] std::string escaped_xml(const std::string& text);

}  // namespace tilejit::cli
