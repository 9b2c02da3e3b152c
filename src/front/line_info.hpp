#pragma once

#include <cstdint>
#include <string>

#include "compile/nvrtc.hpp"

namespace tilejit::front {

/// Whether profilers can map an instruction to its line of source.
enum class LineInfo : std::uint8_t { no, yes };

/// The compiler's option, which is then a part of the key.
inline constexpr const char* kLineInfoOption = "--generate-line-info";

/// Changes `request` so that line numbers refer to its source as one file called `name`, the file
/// that CacheKeep::source keeps; to the caller's files if the source is the caller's own.
void add_line_info(compile::Request& request, const std::string& name);

}  // namespace tilejit::front
