// Iteration spaces of operations with reductions: their shape, the axes of each tensor, what is
// refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formula/analysis.hpp"
#include "formula/json.hpp"
#include "support/tensor_list.hpp"
#include "tilejit/error.hpp"

namespace tilejit::formula {
namespace {

using test::operation;

std::string text_of(const std::vector<Dim>& shape) {
  std::string text;
  for (const Dim& extent : shape) text += (text.empty() ? "" : ",") + to_string(extent);
  return text;
}

struct Row {
  const char* tensors;
  const char* formula;
  const char* shape;
  std::vector<std::vector<int>> axes;
};

TEST(ReducedSpace, TellsTheAxesOfEachTensor) {
  const Row rows[] = {
      {"x (M,N); y (M,N)", "y = x", "M,N", {{0, 1}, {0, 1}}},
      {"x (M,N); b N; y (M,N)", "y = x + b", "M,N", {{0, 1}, {1}, {0, 1}}},
      {"x (M,N); y M", "y = sum(x)", "M,N", {{0, 1}, {0}}},
      {"x (M,N); y (M,1)", "y = sum(x)", "M,N", {{0, 1}, {0, 1}}},
      {"x (M,N); y N", "y = sum(x, axis=0)", "M,N", {{0, 1}, {1}}},
      {"x (M,N); y (1,N)", "y = sum(x, axis=0)", "M,N", {{0, 1}, {0, 1}}},
      {"x (M,N); y 1", "y = sum(x, axis=(0, 1))", "M,N", {{0, 1}, {1}}},
      {"x (M,N); y (M,N)", "y = max(x)", "M,N", {{0, 1}, {0, 1}}},
      {"x (M,N,K); y (M,K)", "y = sum(x, axis=1)", "M,N,K", {{0, 1, 2}, {0, 2}}},
      {"x (M,N,K); y N", "y = sum(x, axis=(0, 2))", "M,N,K", {{0, 1, 2}, {1}}},
      {"x (M,N,K); y (N,1)", "y = sum(x, axis=(0, 2))", "M,N,K", {{0, 1, 2}, {1, 2}}},
      {"y M; x (M,N)", "y = sum(x)", "M,N", {{0}, {0, 1}}},
      {"x (M,N); w N; y M", "y = sum(x * w)", "M,N", {{0, 1}, {1}, {0}}},
      {"x (M,N); b N; y N", "y = sum(x, axis=0) + b", "M,N", {{0, 1}, {1}, {1}}},
      {"x (M,N); s (M,1) inout", "s = s + sum(x)", "M,N", {{0, 1}, {0, 1}}},
      {"x (M,M); y M; z M", "y = sum(x, axis=0); z = sum(x)", "M,M", {{0, 1}, {1}, {0}}},
      {"y (M,N)", "y = iota(0) * extent(1)", "M,N", {{0, 1}}},
      {"y (M,N); z M", "y = 1; z = sum(iota(1))", "M,N", {{0, 1}, {0}}},
      {"b N; y (M,N)", "y = sum(b)", "M,N", {{1}, {0, 1}}},
      {"x (1,N); y 5", "y = sum(x + iota(0))", "5,N", {{0, 1}, {0}}},
      {"x ((2,3),N); y (2,3)", "y = sum(x)", "", {}},
      {"x ((2,3),N); y ((3,2))", "y = sum(x)", "6,N", {{0, 1}, {0}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.tensors) + ": " + row.formula);
    try {
      const Analysis analysis = analyze(operation(row.tensors, row.formula));
      EXPECT_EQ(text_of(analysis.shape), row.shape);
      EXPECT_EQ(analysis.axes, row.axes);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(row.shape), "") << error.what();
    }
  }
}

TEST(ReducedSpace, TakesTheDefaultAxesOfTheDescriptor) {
  const Analysis analysis = analyze(operation("x (M,N,K); y N", "y = sum(x)", {0, -1}));
  EXPECT_EQ(analysis.axes[1], std::vector<int>{1});
  EXPECT_TRUE(has_reductions(analysis.program));
  EXPECT_FALSE(has_reductions(analyze(operation("y (M,N)", "y = iota(0)")).program));
}

struct Refused {
  const char* tensors;
  const char* formula;
  std::vector<int> axis;
  ErrorCode code;
  const char* where;
  const char* message;
};

TEST(ReducedSpace, RefusesWithTheReason) {
  const Refused rows[] = {
      {"x (M,N); y N",
       "y = sum(x)",
       {},
       ErrorCode::invalid_spec,
       "/tensors/y",
       "the output 'y' has shape N, but its value has shape (M,1); an output has that shape, or "
       "leaves exactly the reduced axes out, or repeats the value along them"},
      {"x (M,N); y (M,K)",
       "y = sum(x)",
       {},
       ErrorCode::invalid_spec,
       "/tensors/y",
       "mode 1 of 'y' has extent K, but 'x' has N there"},
      {"x (M,N); y (1,1)",
       "y = sum(x)",
       {},
       ErrorCode::invalid_spec,
       "/tensors/y",
       "its value has shape (M,1)"},
      {"x (M,N); y M",
       "y = x",
       {},
       ErrorCode::invalid_spec,
       "/tensors/y",
       "the operation's broadcast shape is (M,N); outputs do not broadcast"},
      {"x (M,N); y M",
       "y = sum(x) + x",
       {},
       ErrorCode::invalid_spec,
       "/tensors/y",
       "outputs do not broadcast"},
      {"x (M,N); b N; y (1,N)",
       "y = b + 0 * sum(x)",
       {},
       ErrorCode::invalid_spec,
       "/tensors/y",
       "outputs do not broadcast"},
      {"x (M,N,K); y (M,N)",
       "y = sum(x, axis=(1, 2))",
       {},
       ErrorCode::invalid_spec,
       "/tensors/y",
       "its value has shape (M,1,1)"},
      {"x (M,N); s M inout",
       "s = s + sum(x)",
       {},
       ErrorCode::invalid_spec,
       "/tensors/s",
       "extents must be equal or 1, aligned at the last mode"},
      {"x (M,N); b M; y M",
       "y = sum(x) + b",
       {},
       ErrorCode::invalid_spec,
       "/tensors/b",
       "extents must be equal or 1, aligned at the last mode"},
      {"x (M,N); y M",
       "y = sum(x, axis=2)",
       {},
       ErrorCode::invalid_formula,
       "/formula",
       "axis 2 is out of range: the operation has 2 axes, -2 to 1"},
      {"x (M,N); y M",
       "y = sum(x)",
       {2},
       ErrorCode::invalid_spec,
       "/axis",
       "axis 2 is out of range: the operation has 2 axes"},
      {"x (M,N); y M",
       "y = sum(x)",
       {0, -2},
       ErrorCode::invalid_spec,
       "/axis",
       "axis -2 is named twice"},
      {"x M; y M",
       "y = iota(1) + x",
       {},
       ErrorCode::invalid_formula,
       "/formula",
       "axis 1 is out of range: the operation has 1 axis, 0 or -1"},
      {"x (M,N); y M",
       "y = sum(x, axis=)",
       {},
       ErrorCode::invalid_formula,
       "/formula",
       "expected an axis"},
  };
  for (const Refused& row : rows) {
    SCOPED_TRACE(std::string(row.tensors) + ": " + row.formula);
    try {
      (void)analyze(operation(row.tensors, row.formula, row.axis));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), row.code);
      EXPECT_EQ(error.where(), row.where);
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find("faults"), std::string::npos) << error.what();
    }
  }
}

TEST(ReducedSpace, JsonHoldsTheDefaultAxes) {
  const auto spec = [](const std::string& axis) {
    return R"_({"tensors": {"x": {"dtype": "f32", "shape": [2, 3, 4]},
                           "y": {"dtype": "f32", "shape": [2, 3, 4]}},
               "formula": "y = sum(x)", "axis": )_" +
           axis + "}";
  };
  EXPECT_EQ(parse_fused(spec("-1")).axis, std::vector<int>{-1});
  EXPECT_EQ(parse_fused(spec("[0, 2]")).axis, (std::vector<int>{0, 2}));
  for (const char* axis : {"1", "[0, -1]"}) {
    const Fused op = parse_fused(spec(axis));
    EXPECT_EQ(parse_fused(to_json(op)), op) << to_json(op);
  }
  for (const char* axis : {"[]", "\"all\"", "1.5", "[0, null]", "99999999999", "[[0]]", "3"}) {
    SCOPED_TRACE(axis);
    try {
      (void)parse_fused(spec(axis));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
      EXPECT_EQ(error.where(), "/axis");
    }
  }
}

}  // namespace
}  // namespace tilejit::formula
