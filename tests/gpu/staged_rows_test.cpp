// Short rows that blocks copy to shared memory as one run (fused_staged.cu).
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class StagedRows : public Gpu {};

struct Case {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
};

TEST_F(StagedRows, AgreeWithTheReference) {
  std::vector<Case> cases;
  for (const DType dtype : {f32, f16, bf16}) {
    for (const char* const layout :
         {"(n,2):(2,1)", "(n,9):(9,1)", "(n,33):(33,1)", "(n,50):(50,1)", "(n,63):(63,1)"}) {
      const Tensor x{"x", dtype, layout}, y{"y", dtype, layout}, wide{"y", f32, layout};
      const Tensor in_place{"x", dtype, layout, Access::inout};
      cases.push_back({"softmax", {x, wide}, "e = exp(x - max(x)); y = e / sum(e)"});
      cases.push_back({"in place", {in_place}, "x = x * rsqrt(mean(x * x) + 1e-5)"});
      cases.push_back({"scanned", {x, y}, "y = cumsum(x)"});
      cases.push_back({"one result a row", {x, {"y", i64, "(n,1):(1,1)"}}, "y = argmax(x)"});
      cases.push_back({"a bias per row, two outputs",
                       {x, {"b", f32, "(n,1):(1,1)"}, y, {"z", dtype, layout}},
                       "v = x + b; y = v - mean(v); z = v"});
    }
  }
  cases.push_back({"bytes, of weights",
                   {{"x", u8, "(n,27):(27,1)"},
                    {"g", u8, "27:1"},
                    {"y", i32, "(n,1):(1,1)"},
                    {"z", u8, "(n,27):(27,1)"}},
                   "y = sum(i32(x) * i32(g)); z = max(x) - x"});
  Random random(20261124);
  for (const Case& c : cases) {
    for (const std::int64_t rows : {1, 1000, 20011}) {
      SCOPED_TRACE(std::string(c.what) + " " + std::string(to_string(c.tensors[0].dtype)) + " " +
                   std::to_string(rows));
      const Fused op{.tensors = c.tensors, .formula = c.formula, .axis = {1}};
      run_and_verify({.op = op, .symbols = {{"n", rows}}, .scalars = {}}, random);
    }
  }
}

/// Inputs that are no run, whose neighbours lanes copy.
TEST_F(StagedRows, GatheredAgreeWithTheReference) {
  const Case cases[] = {
      {"padded, weights",
       {{"x", f32, "(n,31):(32,1)"}, {"w", f32, "31:1"}, {"y", f32, "(n,31):(31,1)"}},
       "d = x - mean(x); y = d * rsqrt(mean(d * d) + 1e-5) * w"},
      {"padded, bf16 beside a run",
       {{"x", bf16, "(n,7):(71,1)"}, {"v", bf16, "(n,7):(7,1)"}, {"y", f32, "(n,7):(7,1)"}},
       "s = x + v; e = exp(s - max(s)); y = e / sum(e)"},
      {"vectors of two",
       {{"x", f16, "(n,26):(66,1)"}, {"y", f16, "(n,26):(26,1)"}, {"z", f16, "(n,26):(26,1)"}},
       "y = x - max(x); z = x"},
      {"gaps, rows of two modes",
       {{"x", f32, "((3,n),9):((20,66),2)"}, {"y", f32, "((3,n),9):((9,27),1)"}},
       "y = x - mean(x)"},
      {"scanned, padded",
       {{"x", f32, "(n,41):(64,1)"}, {"y", f32, "(n,41):(41,1)"}},
       "y = cumsum(x)"},
  };
  Random random(20261127);
  for (const Case& c : cases) {
    for (const std::int64_t rows : {1, 1000, 20011}) {
      SCOPED_TRACE(std::string(c.what) + " " + std::to_string(rows));
      const Fused op{.tensors = c.tensors, .formula = c.formula, .axis = {1}};
      run_and_verify({.op = op, .symbols = {{"n", rows}}, .scalars = {}}, random);
    }
  }
}

/// Columns that blocks copy as slabs, which begin and end within 16 bytes.
TEST_F(StagedRows, SideBySideAgreeWithTheReference) {
  struct Slab {
    std::int64_t length, columns;
  };
  constexpr Slab kSlabs[] = {{41, 3}, {3, 7}, {2, 2047}, {32, 3}, {16, 5}, {197, 49}, {1000, 10}};
  Random random(20261125);
  for (const auto& [length, columns] : kSlabs) {
    const std::string row = "(n,1," + std::to_string(columns) + ")";
    const std::string full = "(n," + std::to_string(length) + "," + std::to_string(columns) + ")";
    const auto layout_of = [&, columns = columns](const std::string& shape, std::int64_t slab) {
      return shape + ":(" + std::to_string(slab) + "," + std::to_string(columns) + ",1)";
    };
    const std::string layout = layout_of(full, length * columns);
    for (const DType dtype : {f32, f16, bf16, u8}) {
      const Tensor x{"x", dtype, layout}, s{"s", f32, layout_of(row, columns)};
      std::vector<Case> cases = {{"reduced", {x, s}, "s = sum(f32(x))"}};
      if (dtype != u8) {
        cases.push_back(
            {"softmax, wider", {x, {"y", f32, layout}}, "e = exp(x - max(x)); y = e / sum(e)"});
        cases.push_back({"in place, a value a row",
                         {{"x", dtype, layout, Access::inout}, s},
                         "d = x - mean(x); x = d * rsqrt(mean(d * d) + 1e-5); s = max(x)"});
        if (length < 20) cases.push_back({"scanned", {x, {"y", dtype, layout}}, "y = cumsum(x)"});
      }
      for (const Case& c : cases) {
        for (const std::int64_t slabs : {1, 3, 333}) {
          SCOPED_TRACE(std::string(c.what) + " " + std::string(to_string(dtype)) + " " + full +
                       " " + std::to_string(slabs));
          const Fused op{.tensors = c.tensors, .formula = c.formula, .axis = {1}};
          run_and_verify({.op = op, .symbols = {{"n", slabs}}, .scalars = {}}, random);
        }
      }
    }
  }
}

/// Columns of slabs that pass by in chunks, of which the last one is shorter.
TEST_F(StagedRows, ScannedInChunksAgreeWithTheReference) {
  struct Slab {
    DType dtype;
    std::int64_t length, columns;
    const char* formula;
  };
  constexpr Slab kSlabs[] = {
      {f16, 260, 9, "y = cumsum(x)"},       {bf16, 700, 7, "y = cumsum(x, reverse=true)"},
      {f32, 300, 333, "y = cumsum(x * x)"}, {f32, 5000, 5, "y = cummax(x)"},
      {f16, 200, 1501, "y = cumsum(x)"},    {f32, 77, 2047, "y = cumsum(x, reverse=true)"}};
  Random random(20261126);
  for (const auto& [dtype, length, columns, formula] : kSlabs) {
    const std::string layout = "(n," + std::to_string(length) + "," + std::to_string(columns) +
                               "):(" + std::to_string(length * columns) + "," +
                               std::to_string(columns) + ",1)";
    const Fused op{
        .tensors = {{"x", dtype, layout}, {"y", dtype, layout}}, .formula = formula, .axis = {1}};
    for (const std::int64_t slabs : {1, 301}) {
      SCOPED_TRACE(layout + " " + formula + " " + std::to_string(slabs));
      run_and_verify({.op = op, .symbols = {{"n", slabs}}, .scalars = {}}, random);
    }
  }
}

}  // namespace
}  // namespace tilejit::test
