#pragma once

#include <filesystem>

namespace tilejit::test {

/// The root of the checkout. Only the .cpp file contains the path, so that a compiler cache serves
/// every checkout.
const std::filesystem::path& source_dir();

}  // namespace tilejit::test
