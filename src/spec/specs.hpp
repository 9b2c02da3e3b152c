#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::spec {

/// A kind of operation, as specs name it.
struct Kind {
  std::string_view name;  ///< value of the member "op"
  /// Reads the members of one descriptor; faults go to `problems` with JSON pointers below `where`.
  Operation (*read)(const Json& json, const std::string& where, const SpecOptions& options,
                    Problems& problems);
  /// Of an operation that is also written as text of its own, else null: whether `text` is such a
  /// text, and the descriptor that it stands for. The latter throws Error.
  bool (*is_text)(std::string_view text) = nullptr;
  Json (*descriptor_of_text)(std::string_view text) = nullptr;
};
/// The kinds of this library. The first is that of specs without "op" (src/ops/table.cpp).
[[nodiscard]] std::span<const Kind> kinds() noexcept;

/// Reads one descriptor of the `known` kinds and checks its structure only.
[[nodiscard]] Operation read_operation(const Json& json, const std::string& where,
                                       const SpecOptions& options, Problems& problems,
                                       std::span<const Kind> known = kinds());
/// What parse_specs does, but with operations of `kinds`.
[[nodiscard]] std::vector<Operation> read_specs(std::string_view text, std::span<const Kind> kinds,
                                                std::vector<Error>* faults = nullptr,
                                                const SpecOptions& options = {});

}  // namespace tilejit::spec
