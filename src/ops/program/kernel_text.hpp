#pragma once

#include <set>
#include <string>
#include <string_view>

#include "expr/weak.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::program {

/// A known value as a literal of the compute type of `type`.
[[nodiscard]] std::string known_text(const expr::Weak& value, DType type);
/// A value in its compute type, as an element of `type`.
[[nodiscard]] std::string stored_text(const std::string& value, DType type);
/// The least and the greatest integer of a type, in its compute type.
[[nodiscard]] std::string least_text(DType type);
[[nodiscard]] std::string greatest_text(DType type);
/// Any bytes as the inside of a C string that printf prints as they are.
[[nodiscard]] std::string printed_text(std::string_view bytes);
/// Adds the headers with the functions of formulas that `text` calls.
void add_function_headers(std::string_view text, std::set<std::string>& headers);

}  // namespace tilejit::program
