// Negations of integers below minima and maxima, in every family of kernels. ptxas of CUDA 12.6 to
// 13.3 drops them from instructions with three operands, of which sm_90 and sm_100 have some.
#include "gpu/gpu_fixture.hpp"

namespace tilejit::test {
namespace {

class Negations : public Gpu {};

struct Family {
  const char *x, *row;  // layouts: of what is as large as the space, and of one element a row
  const char* formula;
  std::vector<int> axis = {};
};

const Family kFamilies[] = {
    {"(67,129):(129,1)", "67:1", "y = max(max(a, -b), c); z = min(min(-a, 0 - b), -c)"},
    {"(67,129):(1,67)", "67:1", "y = max(c, max(b * -1, a)); z = where(-a < b, -a, b)"},
    {"(67,129):(129,1)", "67:1", "y = clamp(-a, -b, -c); z = relu(-a)"},
    {"(67,129):(129,1)", "67:1", "r = min(-a); s = max(~b + 1); y = max(a, -b); z = -c", {1}},
    {"(67,1290):(1290,1)", "67:1", "r = min(-a); s = max(-b); y = c - r; z = s", {1}},
    {"(129,67):(1,129)", "129:1", "r = max(-a); s = min(0 - b); y = c - r; z = s", {1}},
    {"(5,70001):(70001,1)", "5:1", "r = min(-a); s = max(min(-a, -b)); y = c; z = a", {1}},
    {"(67,129):(129,1)", "67:1", "r = min(a); s = max(b); y = cummax(-a); z = cummin(-c)", {1}},
};

TEST_F(Negations, AreNotDroppedBelowMinimaAndMaxima) {
  Random random(46);
  for (const DType dtype : {i8, i16, i32, i64}) {
    for (const Family& family : kFamilies) {
      const Layout x = parse_layout(family.x), row = parse_layout(family.row);
      Fused op{.name = "negations",
               .tensors = {{"a", dtype, x},
                           {"b", dtype, x},
                           {"c", dtype, x},
                           {"y", dtype, x},
                           {"z", dtype, x}},
               .formula = family.formula,
               .axis = family.axis};
      if (!family.axis.empty()) {
        op.tensors.push_back({"r", dtype, row});
        op.tensors.push_back({"s", dtype, row});
      }
      SCOPED_TRACE(std::string(to_string(dtype)) + ": " + family.formula);
      run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
    }
  }
}

}  // namespace
}  // namespace tilejit::test
