#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilejit/operation.hpp"

namespace tilejit::cli {

/// The descriptors of a spec file ("-": standard input). Throws UsageError if the file cannot be
/// read or is empty; what `parse_specs` throws, with the path put in front.
[[nodiscard]] std::vector<Operation> load_specs(const std::string& path);

/// Those named `kernel`; all if it is empty. Throws UsageError, listing the names, if there is
/// none.
[[nodiscard]] std::vector<Operation> select_kernels(std::vector<Operation> ops,
                                                    const std::string& kernel);

/// The only descriptor. Throws UsageError, listing the names, if there are several.
[[nodiscard]] Operation only_kernel(std::vector<Operation> ops);

[[nodiscard]] std::string_view to_string(Access access) noexcept;

/// Every symbol in the layouts of `op`, sorted, without repetition.
[[nodiscard]] std::vector<std::string> symbols_of(const Operation& op);

}  // namespace tilejit::cli
