// dtypes, targets and errors: names in both directions.
#include <gtest/gtest.h>

#include "tilejit/dtype.hpp"
#include "tilejit/error.hpp"
#include "tilejit/target.hpp"

namespace tilejit {
namespace {

TEST(DType, NamesParseBack) {
  for (const DType dtype : kAllDTypes) EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
}

TEST(DType, SizesAndCategories) {
  struct Row {
    DType dtype;
    int bytes;
    Category category;
  };
  constexpr Row kRows[] = {
      {b8, 1, Category::boolean},           {i8, 1, Category::signed_integer},
      {u16, 2, Category::unsigned_integer}, {i64, 8, Category::signed_integer},
      {f16, 2, Category::floating},         {bf16, 2, Category::floating},
      {f8e4m3, 1, Category::floating},      {tf32, 4, Category::floating},
      {f64, 8, Category::floating},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(to_string(row.dtype));
    EXPECT_EQ(size_bytes(row.dtype), row.bytes);
    EXPECT_EQ(category(row.dtype), row.category);
  }
}

TEST(DType, RefusesUnknownNames) {
  try {
    (void)parse_dtype("float16", "/tensors/x/dtype");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
    EXPECT_EQ(error.where(), "/tensors/x/dtype");
    EXPECT_NE(std::string(error.what()).find("did you mean 'f16'?"), std::string::npos)
        << error.what();
  }
  for (const char* name : {"i128", "u128"}) {
    try {
      (void)parse_dtype(name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
    }
  }
}

TEST(Target, ParsesAndPrints) {
  for (const char* text :
       {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103f", "sm_120a"}) {
    EXPECT_EQ(to_string(parse_target(text)), text);
  }
  EXPECT_EQ(parse_target("sm_120a"), (Target{.major = 12, .minor = 0, .feature = 'a'}));
}

TEST(Target, RefusesOtherText) {
  for (const char* text :
       {"", "sm_", "sm_70", "90", "sm_90b", "sm_90aa", "compute_90", "sm_9999", "sm_-90",
        // render accepted these, and compile refused them.
        "sm_91", "sm_777", "sm_80a", "sm_90f"}) {
    SCOPED_TRACE(text);
    try {
      (void)parse_target(text);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
    }
  }
}

TEST(Error, SaysWhere) {
  const Error error(ErrorCode::compile_failed, "it failed", "/kernels/3", "log text");
  EXPECT_STREQ(error.what(), "it failed (/kernels/3)");
  EXPECT_EQ(error.log(), "log text");
  EXPECT_EQ(to_string(error.code()), "compile_failed");
}

}  // namespace
}  // namespace tilejit
