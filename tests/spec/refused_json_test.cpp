// Specs that are refused, and with which message.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "spec/spec_text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/operation.hpp"

namespace tilejit {
namespace {

using test::kAdd;
using test::spec_of;

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

/// "k0": 0, "k1": 0, ...
std::string keys(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\": 0";
  }
  return text;
}

struct Refused {
  const char* name;
  std::string text;
  ErrorCode code;
  const char* where;
  const char* says;
};

void expect_refused(const Refused& row) {
  SCOPED_TRACE(row.name);
  try {
    (void)parse_specs(row.text);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), row.code) << error.what();
    EXPECT_EQ(error.where(), row.where) << error.what();
    EXPECT_NE(std::string(error.what()).find(row.says), std::string::npos) << error.what();
    EXPECT_LT(std::string(error.what()).size(), 3000u);
  }
}

TEST(ParseSpecs, RefusesBadJson) {
  const ErrorCode spec = ErrorCode::invalid_spec;
  const Refused rows[] = {
      {"empty", "", spec, "", "empty"},
      {"blank", " \n\t", spec, "", "empty"},
      {"not JSON", "{\"a\": 1,\n oops}", spec, "", "line 2"},
      {"not UTF-8", "{\"name\": \"\xff\"}", spec, "", "not UTF-8"},
      {"no object", "[1]", spec, "", "expected an object"},
      {"null", "null", spec, "", "expected an object {...}, found null"},
      {"number out of range", "{\"a\": [1,\n1e999]}", spec, "", "the number at line 2, column"},
      {"key twice", R"({"name": "a", "name": "b"})", spec, "/name", "'name' is given twice"},
      {"tensor twice", R"({"tensors": {"a": {}, "a": {}}})", spec, "/tensors/a",
       "'a' is given twice"},
      {"key twice in a list", R"({"kernels": [{"a/b": {}}, {"a/b": [0, {"x": 1, "x": 2}]}]})", spec,
       "/kernels/1/a~1b/1/x", "'x' is given twice"},
      {"the 33rd key twice", "{\"g\": {" + keys(33) + ",\"k32\": 0}}", spec, "/g/k32",
       "'k32' is given twice"},
      {"key twice among many", "{\"g\": {" + keys(60'000) + ",\"k31\": 0}}", spec, "/g/k31",
       "'k31' is given twice"},
      {"list with a number as schema", R"({"$schema": 1, "kernels": [1]})", spec, "/$schema",
       "expected a string"},
      {"list with a number as description", R"({"description": 1, "kernels": [1]})", spec,
       "/description", "expected a string"},
      {"100,000 deep", std::string(100'000, '['), spec, "", "100 levels"},
      {"deep object",
       [] {
         std::string s;
         for (int i = 0; i < 5000; ++i) s += "{\"a\":";
         return s;
       }(),
       spec, "", "100 levels"},
      {"kernels empty", R"({"kernels": []})", spec, "/kernels", "1 to 100,000"},
      {"kernels no list", R"({"kernels": 3})", spec, "/kernels", "1 to 100,000"},
      {"same names",
       "{\"kernels\": [" + spec_of(kAdd, "c = a") + "," + spec_of(kAdd, "c = a") + "]}", spec,
       "/kernels/1/name", "earlier"},
      {"fault in a list", "{\"kernels\": [" + spec_of(kAdd, "c = a") + ", {}]}", spec, "/kernels/1",
       "tensors"},
  };
  for (const Refused& row : rows) expect_refused(row);
}

TEST(ParseSpecs, RefusesBadFields) {
  const ErrorCode spec = ErrorCode::invalid_spec;
  const std::string good_a = R"("a": {"dtype": "f16", "shape": [8]})";
  const auto tensor = [&](const std::string& members) {
    return spec_of(good_a + ", \"c\": {" + members + "}", "c = a");
  };
  const auto output = [](const std::string& layout) {
    return spec_of(R"("c": {"dtype": "f16", "layout": ")" + layout + "\"}", "c = 1.0");
  };
  const Refused rows[] = {
      {"unknown field", spec_of(kAdd, "c = a", R"(, "formulae": 1)"), spec, "/formulae",
       "did you mean 'formula'"},
      {"unknown field far", spec_of(kAdd, "c = a", R"(, "zzzzzzzzzzzz": 1)"), spec, "/zzzzzzzzzzzz",
       "known are"},
      {"unknown short field", spec_of(kAdd, "c = a", R"(, "k6": 1)"), spec, "/k6", "known are"},
      {"slip in a short field", spec_of(kAdd, "c = a", R"(, "nane": 1)"), spec, "/nane",
       "did you mean 'name'"},
      {"schema a number", spec_of(kAdd, "c = a", R"(, "$schema": 1)"), spec, "/$schema",
       "expected a string"},
      {"pointer escapes", spec_of(kAdd, "c = a", R"(, "a/b~c": 1)"), spec, "/a~1b~0c",
       "unknown field"},
      {"wrong type", R"({"name": 3, "tensors": {}, "formula": ""})", spec, "/name",
       "expected a string, found an integer"},
      {"no tensors", R"({"formula": "c = a"})", spec, "", "'tensors' is missing"},
      {"no formula", "{\"tensors\": {" + good_a + "}}", spec, "", "'formula' is missing"},
      {"formula a number", "{\"tensors\": {" + good_a + "}, \"formula\": 3}", spec, "/formula",
       "a list of strings"},
      {"unknown operation", spec_of(kAdd, "c = a", R"(, "op": "conv")"), spec, "/op", "'conv'"},
      {"unknown dtype", tensor(R"("dtype": "half", "shape": [8])"), spec, "/tensors/c/dtype",
       "did you mean 'f16'?"},
      {"int128", tensor(R"("dtype": "i128", "shape": [8])"), ErrorCode::unsupported,
       "/tensors/c/dtype", "128-bit"},
      {"65 tensors", "{\"tensors\": {" + keys(65) + "}, \"formula\": \"k0 = 1.0\"}", spec,
       "/tensors", "1 to 64 tensors, found 65"},
      {"no dtype", tensor(R"("shape": [8])"), spec, "/tensors/c", "'dtype' is missing"},
      {"no shape", tensor(R"("dtype": "f16")"), spec, "/tensors/c", "'shape' is missing"},
      {"layout and shape", tensor(R"_("dtype": "f16", "shape": [8], "layout": "8:1")_"), spec,
       "/tensors/c/shape", "either"},
      {"an unknown without a name", tensor(R"_("dtype": "f16", "layout": "(8,?):(?,1)")_"), spec,
       "/tensors/c/layout", "give it a name"},
      {"unbalanced layout", tensor(R"_("dtype": "f16", "layout": "(8:1")_"),
       ErrorCode::invalid_layout, "/tensors/c/layout", "position 2"},
      {"negative extent", tensor(R"("dtype": "f16", "shape": [-8])"), ErrorCode::invalid_layout,
       "/tensors/c/shape/0", "from 0"},
      {"huge extent", tensor(R"("dtype": "f16", "shape": [99999999999999999999])"),
       ErrorCode::invalid_layout, "/tensors/c/shape/0", "integer"},
      {"overflow", tensor(R"("dtype": "f16", "shape": [4611686018427387904, 4])"),
       ErrorCode::unsupported, "/tensors/c/shape", "2^63-1"},
      {"10,000 extents", tensor(R"("dtype": "f16", "shape": [)" + repeated("1,", 9'999) + "1]"),
       ErrorCode::invalid_layout, "/tensors/c/shape/64", "at most 64 extents"},
      {"10,000 empty modes",
       tensor(R"("dtype": "f16", "shape": [)" + repeated("[],", 9'999) + "[]]"), spec,
       "/tensors/c/shape/0", "nested mode"},
      {"10,000 nested strides",
       tensor(R"("dtype": "f16", "shape": [8], "stride": [[)" + repeated("1,", 9'999) + "1]]"),
       ErrorCode::invalid_layout, "/tensors/c/stride/0/64", "at most 64 extents"},
      {"9 symbols", tensor(R"("dtype": "f16", "shape": [")" + repeated("M*", 8) + "M\"]"),
       ErrorCode::unsupported, "/tensors/c/shape/0", "more than 8 symbols"},
      {"9 symbols in all",
       tensor(R"("dtype": "f16", "shape": [)" + repeated("\"M\",", 8) + "\"M\"]"),
       ErrorCode::unsupported, "/tensors/c/shape", "more than 8 symbols"},
      {"long symbols",
       tensor(R"("dtype": "f16", "shape": [)" + repeated("\"" + std::string(64, 'M') + "\",", 7) +
              "9]"),
       spec, "/tensors/c", "has extent"},
      {"bad symbol", tensor(R"("dtype": "f16", "shape": ["8M"])"), ErrorCode::invalid_layout,
       "/tensors/c/shape/0", "position 1"},
      {"stride of other nesting", tensor(R"("dtype": "f16", "shape": [8], "stride": [1, 2])"),
       ErrorCode::invalid_layout, "/tensors/c/shape", "nested alike"},
      {"shape no list", tensor(R"("dtype": "f16", "shape": 8)"), spec, "/tensors/c/shape",
       "expected a list"},
      {"stride no list", tensor(R"("dtype": "f16", "shape": [8], "stride": 1)"), spec,
       "/tensors/c/stride", "expected a list"},
      {"bad order", tensor(R"("dtype": "f16", "shape": [8], "order": "C")"), spec,
       "/tensors/c/order", "permutation"},
      {"order wraps", tensor(R"("dtype": "f16", "shape": [8, 8], "order": [4294967296, 1])"), spec,
       "/tensors/c/order", "permutation"},
      {"order beyond 2^63",
       tensor(R"("dtype": "f16", "shape": [8, 8], "order": [0, 18446744073709551615])"), spec,
       "/tensors/c/order", "permutation"},
      {"order and stride", tensor(R"("dtype": "f16", "shape": [8], "stride": [1], "order": "row")"),
       spec, "/tensors/c/order", "either"},
      {"bad access", tensor(R"("dtype": "f16", "shape": [8], "access": "rw")"), spec,
       "/tensors/c/access", "inout"},
      {"align 3", tensor(R"("dtype": "f16", "shape": [8], "align": 3)"), spec, "/tensors/c/align",
       "align is 3"},
      {"align below element", tensor(R"("dtype": "f64", "shape": [8], "align": 4)"), spec,
       "/tensors/c/align", "at least the element's 8"},
      {"mode mismatch", tensor(R"("dtype": "f16", "shape": [9])"), spec, "/tensors/c",
       "extents must be equal or 1"},
      {"symbol against number", tensor(R"("dtype": "f16", "shape": ["M"])"), spec, "/tensors/c",
       "has extent M"},
      {"output broadcasts", tensor(R"("dtype": "f16", "shape": [1])"), spec, "/tensors/c",
       "outputs do not broadcast"},
      {"output overlaps itself", tensor(R"_("dtype": "f16", "layout": "(8):(0)")_"), spec,
       "/tensors/c", "stride 0"},
      {"modes overlap", output(R"_((8,8):(7,1))_"), spec, "/tensors/c", "modes 8:7 and 8:1"},
      {"three modes overlap", output(R"_((2,2,2):(1,2,3))_"), spec, "/tensors/c",
       "(2,2,2):(1,2,3) of the output 'c' overlaps itself"},
      {"modes not settled",
       output("(1000000,1000000,1000000):(1000000000039,1000000000061,999999999989)"), spec,
       "/tensors/c", "cannot be checked for overlaps"},
      {"three nested modes overlap", output(R"_((M,((2,2),2)):(6,((1,2),3)))_"), spec, "/tensors/c",
       "overlaps itself"},
      {"bad name", spec_of(R"("a-b": {"dtype": "f16", "shape": [8]})", "c = a"), spec,
       "/tensors/a-b", "not an identifier"},
      {"reserved name", spec_of(R"("exp": {"dtype": "f16", "shape": [8]})", "c = a"), spec,
       "/tensors/exp", "formula language"},
      {"name used twice", spec_of(kAdd, "c = a", R"(, "scalars": {"a": "f32"})"), spec,
       "/scalars/a", "used twice"},
      {"a name with '/' and '~'", spec_of(R"("a/b~": {"dtype": "f16", "shape": [8]})", "c = a"),
       spec, "/tensors/a~1b~0", "not an identifier"},  // was /tensors/a/b~
      {"unused symbol", spec_of(kAdd, "c = a", R"(, "symbols": {"K": {}})"), spec, "/symbols/K",
       "no layout uses"},
      {"bad divisor", spec_of(kAdd, "c = a", R"(, "symbols": {"M": {"divisible_by": 0}})"), spec,
       "/symbols/M", "divisible_by"},
      {"bad example",
       spec_of(kAdd, "c = a", R"(, "symbols": {"M": {"divisible_by": 8, "example": 12}})"), spec,
       "/symbols/M", "multiple of 8"},
      {"bad threads", spec_of(kAdd, "c = a", R"(, "tuning": {"threads": 33})"), spec,
       "/tuning/threads", "multiple of 32"},
      {"bad vector", spec_of(kAdd, "c = a", R"(, "tuning": {"vector": 3})"), spec, "/tuning/vector",
       "1, 2, 4, 8 or 16"},
      {"bad threads", spec_of(kAdd, "c = a", R"(, "tuning": {"row_threads": 48})"), spec,
       "/tuning/row_threads", "power of two"},
      {"bad cluster", spec_of(kAdd, "c = a", R"(, "tuning": {"cluster": 16})"), spec,
       "/tuning/cluster", "1, 2, 4 or 8"},
      {"bad shares", spec_of(kAdd, "c = a", R"(, "tuning": {"splits": 0})"), spec, "/tuning/splits",
       "1 to 8192"},
      {"bad held", spec_of(kAdd, "c = a", R"(, "tuning": {"register_vectors": -1})"), spec,
       "/tuning/register_vectors", "0 to 64"},
      {"bad tv", spec_of(kAdd, "c = a", R"(, "tv": {"thr": "33:1", "val": "8:1"})"), spec,
       "/tv/thr", "a multiple of 32 threads"},
      {"tv without thr", spec_of(kAdd, "c = a", R"(, "tv": {"val": "8:1"})"), spec, "/tv",
       "'thr' is missing"},
      {"unknown tuning", spec_of(kAdd, "c = a", R"(, "tuning": {"warps": 3})"), spec,
       "/tuning/warps", "unknown field"},
      {"formula fault", spec_of(kAdd, "c = a +"), ErrorCode::invalid_formula, "/formula", "^"},
      {"unknown function", spec_of(kAdd, "c = gelo(a)"), ErrorCode::invalid_formula, "/formula",
       "gelo"},
      {"in declared, assigned",
       spec_of(R"("a": {"dtype": "f16", "shape": [8], "access": "in"})", "a = 1.0"),
       ErrorCode::invalid_formula, "/formula", "a"},
  };
  for (const Refused& row : rows) expect_refused(row);
}

TEST(ParseSpecs, ReportsEveryFault) {
  try {
    (void)parse_specs(
        R"({"tensors": {"a": {"dtype": "half", "shape": [8]}, "b": {"dtype": "f16", "shape": [-1]}},
                          "formula": 3, "extra": 1})");
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* part :
         {"4 faults", "/extra", "/tensors/a/dtype", "/tensors/b/shape/0", "/formula"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

TEST(ParseSpecs, ReportsWhatIsNoObjectOnce) {
  for (const char* text :
       {"null", "3", R"({"tensors": {"a": null}, "formula": ""})", R"({"kernels": [null]})"}) {
    SCOPED_TRACE(text);
    try {
      (void)parse_specs(text);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("faults"), std::string::npos) << error.what();
    }
  }
}

TEST(ParseSpecs, ReportsFaultsOfTheWholeWithoutAPlace) {
  try {
    (void)parse_specs("{}");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("2 faults:\n  the field 'tensors'"), std::string::npos)
        << error.what();
  }
}

TEST(ParseSpecs, ReadsManyKeysInTime) {
  std::string tensors = "{\"tensors\": {\"t\": {}";
  for (int i = 0; i < 60'000; ++i) {
    const std::string n = std::to_string(i);
    tensors += ", \"t" + n + R"(": {"dtype": "f16", "shape": [{"M)" + n + "\": {}}]}";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW((void)parse_specs("{\"tensors\": {}, \"g\": {" + keys(60'000) + "}}"), Error);
  EXPECT_THROW((void)parse_specs(tensors + "}, \"formula\": \"\"}"), Error);
  // One second under sanitizers; 10^9 comparisons of keys would take far more than the bound.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace tilejit
