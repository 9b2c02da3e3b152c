#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "support/source_dir.hpp"

namespace tilejit::program {

/// The text of examples/programs/`name`.
inline std::string example(const std::string& name) {
  std::ifstream file(test::source_dir() / "examples/programs" / name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

}  // namespace tilejit::program
