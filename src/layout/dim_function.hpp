#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tilejit/dim.hpp"

namespace tilejit::layout {

/// The unique object for a set of symbols.
[[nodiscard]] const detail::SymbolSet* intern(std::vector<std::string> names);

[[nodiscard]] std::optional<DimFunction> parse_function(std::string_view name) noexcept;
/// True for a coordinate step among Dim::symbols, such as "@0" or "@1@0"; steps sort before all
/// other symbols.
[[nodiscard]] bool is_basis(const std::string& symbol) noexcept;
/// True for the text of a coordinate step: 1 to 8 modes, each up to 1023.
[[nodiscard]] bool is_basis_text(std::string_view text) noexcept;
/// True for the text of a function among Dim::symbols.
[[nodiscard]] bool is_function(const std::string& symbol) noexcept;
/// The value of one of Dim::symbols. Throws Error{invalid_argument} if it has no value.
[[nodiscard]] std::int64_t evaluate_symbol(const std::string& symbol, const SymbolValues& values);

}  // namespace tilejit::layout
