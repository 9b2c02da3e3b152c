#pragma once

#include <string>

#include "tilejit/compiler.hpp"
#include "warm/warm_list.hpp"

namespace tilejit::cli {

/// Writes the kernels of `list` into a bundle at `path`, signed if `private_key` names a PEM file.
/// Throws Failure if a kernel is no longer in the cache, and UsageError for a bad key.
void write_bundle(Compiler& compiler, const WarmList& list, const std::string& path,
                  const std::string& private_key);

}  // namespace tilejit::cli
