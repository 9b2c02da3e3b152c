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

}  // namespace
}  // namespace tilejit::test
