#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tilejit/dim.hpp"

namespace tilejit::layout {

/// The one object of a set of symbols.
[[nodiscard]] const detail::SymbolSet* intern(std::vector<std::string> names);

[[nodiscard]] std::optional<DimFunction> parse_function(std::string_view name) noexcept;
/// True for the text of a function among Dim::symbols.
[[nodiscard]] bool is_function(const std::string& symbol) noexcept;
/// Of one of Dim::symbols. Throws Error{invalid_argument} if it has no value.
[[nodiscard]] std::int64_t evaluate_symbol(const std::string& symbol, const SymbolValues& values);

}  // namespace tilejit::layout
