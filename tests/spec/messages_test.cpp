// Wrong specs and their complete messages.
#include <gtest/gtest.h>

#include <string>

#include "tilejit/error.hpp"
#include "tilejit/operation.hpp"

namespace tilejit {
namespace {

struct Wrong {
  const char* text;
  const char* message;  ///< all of it
};

constexpr Wrong kWrong[] = {
    // Handwritten syntax that JSON does not have.
    {R"({"name": "t",})",
     "the text is not JSON at line 1, column 14: expected a name in double quotes, found '}'; "
     "remove "
     "the comma before it"},
    {R"({"tensors": [1,]})",
     "the text is not JSON at line 1, column 16: expected a value, found ']'; remove the comma "
     "before it"},
    {"{'name': 1}",
     "the text is not JSON at line 1, column 2: expected a name in double quotes, found a single "
     "quote; names and strings stand in double quotes"},
    {R"({"name": 't'})",
     "the text is not JSON at line 1, column 10: expected a value, found a single quote; names and "
     "strings stand in double quotes"},
    {"{\"name\": 1 // first\n}",
     "the text is not JSON at line 1, column 12: expected ',' or '}', found '/'; JSON has no "
     "comments, \"description\" may hold text"},
    {"# a spec\n{}",
     "the text is not JSON at line 1, column 1: expected a value, found '#'; JSON has no comments, "
     "\"description\" may hold text"},
    {R"({"name" 1})", "the text is not JSON at line 1, column 9: expected ':', found '1'"},
    {"{\"a\": 1\n \"b\": 2}",
     "the text is not JSON at line 2, column 4: expected ',' or '}', found '\"'"},
    {R"({"a": True})",
     "the text is not JSON at line 1, column 7: expected a value, found 'T'; besides strings in "
     "double quotes there are true, false and null"},
    {R"({a: 1})",
     "the text is not JSON at line 1, column 2: expected a name in double quotes, found 'a'; "
     "besides "
     "strings in double quotes there are true, false and null"},
    {R"({"a": 1)",
     "the text is not JSON at line 1, column 8: expected ',' or '}', found the end of the text"},
    {R"({"a": "x)", "the text is not JSON at line 1, column 9: a string has no closing quote"},
    {"{\"a\": \"x\n\"}",
     "the text is not JSON at line 1, column 9: a string holds a line break or control character; "
     "write \\n for a line break"},
    {R"({"a": "\q"})",
     "the text is not JSON at line 1, column 9: unknown escape; write \\\\ for a backslash"},
    {"{} {}", "the text is not JSON at line 1, column 4: expected nothing more, found '{'"},
    {R"({"a": 1.})",
     "the text is not JSON at line 1, column 9: expected a digit after '.', found '}'"},
    // The place of each fault is given once.
    {R"({"tensors": {"x": {"dtype": "f33", "shape": [8]}, "y": {"dtype": "f32", "shape": [8],
        "q": 1}}, "formula": "y = x"})",
     "2 faults:\n"
     "  /tensors/x/dtype: unknown dtype 'f33'; use one of bool, i8, i16, i32, i64, u8, u16, u32, "
     "u64, f16, bf16, f32, f64, f8e4m3, f8e5m2, tf32\n"
     "  /tensors/y/q: unknown field 'q'; known are dtype, layout, shape, stride, order, access, "
     "align"},
    {R"({"tensors": {"y": {"dtype": "f32", "shape": [8]}}, "formula": "y = 1", "zzzzzzz": 1})",
     "unknown field 'zzzzzzz'; known are $schema, description, name, op, symbols, tensors, "
     "scalars, "
     "functions, formula, axis, tuning, tv, sweep (/zzzzzzz)"},
    // Strides of coordinates are not places in memory.
    {R"({"tensors": {"y": {"dtype": "f32", "layout": "8:1@0"}}, "formula": "y = 1"})",
     "the layout of tensor 'y' has the coordinate stride 1@0; memory has strides of integers and "
     "symbols (/tensors/y/layout)"},
};

std::string message_of(const char* text) {
  try {
    (void)parse_specs(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SpecMessages, SayWhatIsWrongAndWhatToWrite) {
  for (const Wrong& wrong : kWrong) {
    SCOPED_TRACE(wrong.text);
    EXPECT_EQ(message_of(wrong.text), wrong.message);
  }
}

}  // namespace
}  // namespace tilejit
