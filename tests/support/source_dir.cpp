#include "support/source_dir.hpp"

namespace tilejit::test {

const std::filesystem::path& source_dir() {
  static const std::filesystem::path path = TILEJIT_SOURCE_DIR;
  return path;
}

}  // namespace tilejit::test
