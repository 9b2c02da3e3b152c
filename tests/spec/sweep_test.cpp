// Sweeps: the descriptors that one with "sweep" stands for, and what is refused.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tilejit/error.hpp"
#include "tilejit/operation.hpp"

namespace tilejit {
namespace {

std::string swept_spec(const std::string& sweep, const std::string& more = "",
                       const std::string& formula = "y = x") {
  return R"({"name": "k", "sweep": )" + sweep +
         R"_(, "tensors": {"x": {"dtype": "T", "layout": "(1024,N):(N,1)"},
                          "y": {"dtype": "T", "shape": [1024, "N"]}}, "formula": ")_" +
         formula + '"' + more + '}';
}

TEST(Sweep, IsTheCrossProductTheLastNameFastest) {
  const auto ops = parse_specs(swept_spec(R"({"T": ["f16", "bf16"], "N": [1024, 4096]})"));
  struct Row {
    const char* name;
    DType dtype;
    const char* layout;
  };
  const Row rows[] = {{"k_f16_1024", f16, "(1024,1024):(1024,1)"},
                      {"k_f16_4096", f16, "(1024,4096):(4096,1)"},
                      {"k_bf16_1024", bf16, "(1024,1024):(1024,1)"},
                      {"k_bf16_4096", bf16, "(1024,4096):(4096,1)"}};
  ASSERT_EQ(ops.size(), std::size(rows));
  for (std::size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(ops[i].name(), rows[i].name);
    for (const Tensor& tensor : ops[i].tensors()) {
      EXPECT_EQ(tensor.dtype, rows[i].dtype);
      EXPECT_EQ(to_string(tensor.layout), rows[i].layout);
    }
  }
}

TEST(Sweep, ReachesEveryPlaceOfADescriptor) {
  const auto ops = parse_specs(R"_({
    "sweep": {"T": ["f32"], "N": [64], "s": [-0.5], "w": [128], "a": [1], "L": ["(M,128):(128,1)"],
              "d": [8], "order": ["column"]},
    "symbols": {"M": {"divisible_by": "d"}},
    "tensors": {"x": {"dtype": "T", "shape": ["M", "2*N"], "order": "order", "align": "d"},
                "y": {"dtype": "T", "shape": ["M", ["N", 2]], "stride": ["2*N", ["2", "a"]]},
                "z": {"dtype": "f32", "layout": "L"}, "u": {"dtype": "f32", "layout": "L"}},
    "scalars": {"alpha": "T", "beta": {"dtype": "T", "example": "s"}},
    "functions": {"f": {"args": ["v"], "expr": "v * s + N"}},
    "formula": ["z = f(u) + alpha * beta + x + y"], "axis": "a", "tuning": {"threads": "w"}})_");
  ASSERT_EQ(ops.size(), 1u);
  const Fused& op = *ops[0].fused();
  EXPECT_EQ(op.name.substr(0, 19), "fused_f32_64_m0p5_1");
  EXPECT_EQ(to_string(op.tensors[0].layout), "(M,128):(1,M)");
  EXPECT_EQ(op.tensors[0].align, 8);
  EXPECT_EQ(to_string(op.tensors[1].layout), "(M,(64,2)):(128,(2,1))");
  EXPECT_EQ(to_string(op.tensors[2].layout), "(M,128):(128,1)");
  EXPECT_EQ(op.scalars[0].dtype, f32);
  EXPECT_EQ(op.scalars[1].example, -0.5);
  EXPECT_EQ(op.symbols[0].divisible_by, 8);
  EXPECT_EQ(op.functions[0].expr, "v * (-0.5) + 64");
  EXPECT_EQ(op.axis, std::vector<int>{1});
  EXPECT_EQ(op.tuning.threads, 128);
}

TEST(Sweep, ReplacesWholeNamesOnly) {
  const auto ops = parse_specs(swept_spec(R"({"T": ["f32"], "N": [64], "c": [3], "e5": [7]})", "",
                                          "cc = x * 1e5; y = cc + c + e5"));
  EXPECT_EQ(ops.at(0).fused()->formula, "cc = x * 1e5; y = cc + 3 + 7");
}

TEST(Sweep, OfALongNameIsNumbered) {
  const std::string base(60, 'k');
  std::string text = swept_spec(R"({"T": ["f16", "bf16"], "N": [1024, 4096]})");
  text.replace(text.find("\"k\""), 3, '"' + base + '"');
  const auto ops = parse_specs(text);
  EXPECT_EQ(ops[0].name(), base + "_0");
  EXPECT_EQ(ops[3].name(), base + "_3");
}

TEST(Sweep, OfValuesThatAreWrittenAlikeIsNumbered) {
  const auto ops =
      parse_specs(swept_spec(R"({"T": ["f32"], "N": [64], "c": ["x+1", "x-1"]})", "", "y = c"));
  EXPECT_EQ(ops[0].name(), "k_f32_64_x_1");
  EXPECT_EQ(ops[1].name(), "k_f32_64_xm1");
  const auto alike =
      parse_specs(swept_spec(R"({"T": ["f32"], "N": [64], "c": ["x+1", "x*1"]})", "", "y = c"));
  EXPECT_EQ(alike[0].name(), "k_f32_64_0");
  EXPECT_EQ(alike[1].name(), "k_f32_64_1");
}

TEST(Sweep, StandsBesideOtherDescriptorsOfAFile) {
  const std::string swept = swept_spec(R"({"T": ["f16", "f32"], "N": [64]})");
  const std::string plain =
      R"({"name": "plain", "tensors": {"x": {"dtype": "f16", "shape": [4]}}, "formula": "x = 1"})";
  const auto ops = parse_specs("{\"kernels\": [" + swept + "," + plain + "]}");
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[2].name(), "plain");
}

TEST(Sweep, RefusesWhatCannotBe) {
  struct Row {
    std::string text;
    const char *where, *message;
  };
  const std::string good = R"("T": ["f32"], "N": [64])";
  const Row rows[] = {
      {swept_spec("{}"), "/sweep", "the sweep is empty"},
      {swept_spec("[1]"), "/sweep", "expected an object"},
      {swept_spec("{\"N\": 64}"), "/sweep/N", "expected a list of 1 to 10,000"},
      {swept_spec("{\"N\": []}"), "/sweep/N", "expected a list of 1 to 10,000"},
      {swept_spec("{\"N\": [[1]]}"), "/sweep/N", "expected a list of 1 to 10,000"},
      {swept_spec("{\"N\": [64, 64]}"), "/sweep/N/1", "given twice"},
      {swept_spec("{" + good + ", \"a b\": [1]}"), "/sweep/a b", "not an identifier"},
      {swept_spec("{" + good + ", \"x\": [1]}"), "/sweep/x", "also the name of a tensor"},
      {swept_spec("{" + good + ", \"max\": [1]}"), "/sweep/max", "part of the language"},
      {swept_spec("{" + good + ", \"v\": [1]}",
                  R"(, "functions": {"f": {"args": ["v"], "expr": "v"}})"),
       "/sweep/v", "an argument of a function"},
      {swept_spec("{" + good + ", \"K\": [1]}"), "/sweep/K", "nothing in the descriptor is called"},
      {swept_spec(R"({"T": ["f32", "f12"], "N": [64]})"), "/tensors/x/dtype", "with T=f12, N=64"},
      {swept_spec(R"({"T": ["f32"], "N": [64, -1]})"), "/tensors/x/layout", "with T=f32, N=-1"},
      {R"({"kernels": [)" + swept_spec(R"({"T": ["f12"], "N": [64]})") + "]}",
       "/kernels/0/tensors/x/dtype", "with T=f12, N=64"},
      {R"({"sweep": {"N": [8]}, "tensors": {"x": {"dtype": "f32",
           "shape": [{"N": {"divisible_by": 8}}]}}, "formula": "x = 1"})",
       "/tensors/x/shape/0/N", "a number without facts"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    try {
      (void)parse_specs(row.text);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), row.where) << error.what();
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << error.what();
    }
  }
}

TEST(Sweep, IsBoundedWhateverItsProductIs) {
  std::string values = "[0";
  for (int i = 1; i < 1000; ++i) values += "," + std::to_string(i);
  values += "]";
  const std::string text = swept_spec(
      "{\"T\": [\"f32\"], \"N\": " + values + ", \"a\": " + values + ", \"b\": " + values + "}", "",
      "y = x + a + b");
  try {
    (void)parse_specs(text);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "/sweep");
  }
}

TEST(Sweep, IsNotOneDescriptor) {
  try {
    (void)parse_fused(swept_spec(R"({"T": ["f32"], "N": [64]})"));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "/sweep");
  }
}

}  // namespace
}  // namespace tilejit
