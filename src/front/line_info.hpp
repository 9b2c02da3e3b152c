#pragma once

#include <cstdint>
#include <string>

#include "compile/nvrtc.hpp"

namespace tilejit::front {

/// Whether profilers are told which line of the source an instruction comes from.
enum class LineInfo : std::uint8_t { no, yes };

/// A part of the key where it is used.
inline constexpr const char* kLineInfoOption = "--generate-line-info";

/// Makes `request` one whose lines are those of its source in one file, called `name`: as
/// CacheKeep::source keeps it.
void add_line_info(compile::Request& request, const std::string& name);

}  // namespace tilejit::front
