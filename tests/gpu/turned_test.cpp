// Columns and short rows whose inputs and outputs lie in different orders.
#include "gpu/gpu_fixture.hpp"

namespace tilejit::test {
namespace {

class Turned : public Gpu {};

TEST_F(Turned, RowsAndColumnsAgreeWithTheReference) {
  constexpr const char* kSoftmax = "e = exp(x - max(x)); y = e / sum(e)";
  constexpr const char* kMasked = "v = where(m, x, -30.0); e = exp(v - max(v)); y = e / sum(e)";

  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula;
    int axis = 0;
  };
  const Case cases[] = {
      {"inputs through shared memory, by words",
       {{"x", f16, "(40,200,256):(1,10240,40)"}, {"y", f32, "(40,200,256):(51200,256,1)"}},
       kSoftmax},
      {"by elements",
       {{"x", f16, "(89,590,65):(1,5785,89)"}, {"y", f16, "(89,590,65):(38350,65,1)"}},
       kSoftmax},
      {"in several turns",
       {{"x", f16, "(384,20050):(1,384)"}, {"y", f16, "(384,20050):(20050,1)"}},
       kSoftmax},
      {"two columns of a vector, and a mask",
       {{"x", bf16, "(128,64,40,2):(1,128,16384,8192)"},
        {"m", b8, "(128,64,40,2):(5120,80,2,1)"},
        {"y", bf16, "(128,64,40,2):(5120,80,2,1)"}},
       kMasked},
      {"two inputs, and weights of all columns",
       {{"x", f32, "(52,56,480):(1,24960,52)"},
        {"z", u8, "(52,56,480):(1,52,2912)"},
        {"w", f32, "(52,1,1):(1,0,0)"},
        {"y", f32, "(52,56,480):(26880,480,1)"}},
       "v = x * w + f32(z); y = v - mean(v)"},
      {"crossed columns of clusters",
       {{"x", f32, "(992,8,640):(5120,1,8)"}, {"y", f32, "(992,8,640):(5120,640,1)"}},
       kSoftmax},
      {"crossed columns of several modes",
       {{"x", f32, "(24,256,64,5):(1280,1,30720,256)"},
        {"y", f32, "(24,256,64,5):(81920,320,5,1)"}},
       kSoftmax},
      {"crossed columns and a mask",
       {{"x", f16, "(20,48,1280):(61440,1,48)"},
        {"m", b8, "(20,48,1280):(61440,1280,1)"},
        {"y", f16, "(20,48,1280):(61440,1280,1)"}},
       kMasked},
      {"short rows, staged in the order of the output",
       {{"x", bf16, "(88,96,4,57):(57,20064,5016,1)"},
        {"y", bf16, "(88,96,4,57):(21888,228,57,1)"}},
       kSoftmax,
       3},
  };
  Random random(20261126);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Fused op{.tensors = c.tensors, .formula = c.formula, .axis = {c.axis}};
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
  }
}

}  // namespace
}  // namespace tilejit::test
