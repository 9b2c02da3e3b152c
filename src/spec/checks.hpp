#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spec/problems.hpp"
#include "tilejit/tensor.hpp"

// Checks of the members that every descriptor has, for any operation. Faults go to `problems`.

namespace tilejit::spec {

/// Whether `name` is an identifier.
[[nodiscard]] bool check_identifier(const std::string& name, const std::string& where,
                                    Problems& problems);
void check_tensor_count(std::size_t count, Problems& problems);
/// Alignment, size and shape.
void check_tensor(const Tensor& tensor, Problems& problems);

/// The symbols of the tensors' layouts, each with divisor 1. Refuses what no layout of memory has.
[[nodiscard]] std::map<std::string, std::int64_t> symbols_of(const std::vector<Tensor>& tensors,
                                                             Problems& problems);
/// Checks what a descriptor says of these symbols, and sets their divisors. `advice` says what to
/// do with one that no layout uses: "remove it".
void check_symbols(const std::vector<Symbol>& symbols, std::string_view advice,
                   std::map<std::string, std::int64_t>& found, Problems& problems);

}  // namespace tilejit::spec
