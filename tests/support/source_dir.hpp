#pragma once

#include <filesystem>

namespace tilejit::test {

/// The root of the checkout. Only its source knows the path, so that a compiler cache serves every
/// checkout.
const std::filesystem::path& source_dir();

}  // namespace tilejit::test
