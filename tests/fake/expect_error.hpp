#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tilejit/error.hpp"

namespace tilejit {

/// Expects that `call()` throws Error{code} whose text has `text` in it; returns where().
template <typename Call>
std::string expect_error(ErrorCode code, const std::string& text, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
    return error.where();
  }
  ADD_FAILURE() << "no error; expected " << to_string(code) << ": " << text;
  return {};
}

}  // namespace tilejit
