#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/source_dir.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::test {

// Readers of the files in tests/data/atoms, whose README.md describes them.

using Json = nlohmann::json;

inline Json atom_cases(const std::string& kind) {
  std::ifstream file(source_dir() / "tests/data/atoms" / (kind + ".json"));
  return Json::parse(file)["cases"];
}

/// The type with that name in PTX.
inline DType type_from_ptx(const std::string& name) {
  if (name == "e4m3" || name == "e5m2") return parse_dtype("f8" + name);
  return parse_dtype(name[0] == 's' ? 'i' + name.substr(1) : name);
}

}  // namespace tilejit::test
