#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>

#include "tilejit/error.hpp"

namespace tilejit {

/// A call that must be refused, and what its message must say.
struct Refusal {
  const char *name, *says;
  ErrorCode code;
  std::function<void()> call;
};

/// Each message is a single line that is not long.
inline void expect_refused(std::span<const Refusal> rows) {
  for (const Refusal& row : rows) {
    SCOPED_TRACE(row.name);
    try {
      row.call();
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), row.code);
      EXPECT_NE(std::string(error.what()).find(row.says), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      EXPECT_LT(std::string(error.what()).size(), 300u);
    }
  }
}

}  // namespace tilejit
