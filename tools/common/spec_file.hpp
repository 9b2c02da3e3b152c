#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilejit/operation.hpp"

namespace tilejit::cli {

/// How the spec file `path` is read ("-": standard input): with source if `allow_source`, the
/// command's option, or the environment allows it, and with paths relative to the file's folder.
[[nodiscard]] SpecOptions spec_options(const std::string& path, bool allow_source);
/// The descriptors of a spec file. Throws UsageError if the file cannot be read or is empty, and
/// all that `parse_specs` throws, with the path in front.
[[nodiscard]] std::vector<Operation> load_specs(const std::string& path, bool allow_source);

/// The descriptors named `kernel`; all of them if `kernel` is empty. Throws UsageError, listing the
/// names, if none has that name.
[[nodiscard]] std::vector<Operation> select_kernels(std::vector<Operation> ops,
                                                    const std::string& kernel);

/// The only descriptor. Throws UsageError, listing the names, if there are several.
[[nodiscard]] Operation only_kernel(std::vector<Operation> ops);

[[nodiscard]] std::string_view to_string(Access access) noexcept;

/// Every symbol in the layouts of `op`, sorted, without repetition.
[[nodiscard]] std::vector<std::string> symbols_of(const Operation& op);

}  // namespace tilejit::cli
