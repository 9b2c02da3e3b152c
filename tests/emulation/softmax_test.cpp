// Sums of exponentials below a maximum, folded in one pass with it: every way in which lanes, warps
// and blocks share rows, run on the CPU against the reference.
#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

constexpr const char* kSoftmax = "e = exp(x - max(x)); y = e * (1 / sum(e))";

struct SoftmaxCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  Tuning tuning = {};
};

std::vector<SoftmaxCase> softmax_cases() {
  const auto same = [](const char* layout) {
    return std::vector<Tensor>{{"x", f32, layout}, {"y", f32, layout}};
  };
  return {
      {"lanes of a warp", same("(40,70):(70,1)"), kSoftmax, {.register_vectors = 0}},
      {"held in registers", same("(9,900):(900,1)"), kSoftmax},
      {"a warp a row, ragged",
       same("(9,517):(517,1)"),
       kSoftmax,
       {.row_threads = 32, .register_vectors = 0}},
      {"warps of a block", same("(3,8192):(8192,1)"), kSoftmax, {.register_vectors = 0}},
      {"rows that are read again", same("(2,70001):(70001,1)"), kSoftmax, {.cluster = 1}},
      {"columns", same("(300,72):(1,300)"), kSoftmax},
      {"blocks share a row",
       {{"x", f32, "300001:1"}, {"y", f32, "1:1"}},
       "m = max(x); y = m + log(sum(exp(x - m)))",
       {.splits = 3}},
      {"doubles, powers of two",
       {{"x", f64, "(5,1000):(1000,1)"}, {"y", f64, "5:1"}},
       "m = max(x); y = m + log2(sum(exp2(x - m)))",
       {.register_vectors = 0}},
      {"a guarded maximum, another reduction of the same pass",
       {{"x", f32, "(7,900):(900,1)"}, {"y", f32, "7:1"}, {"w", f32, "7:1"}},
       "m = max(x); s = where(abs(m) < inf, m, 0); y = s + log(sum(exp(x - s))); w = min(x)",
       {.register_vectors = 0}},
      {"masked, with a hidden row",
       {{"x", f32, "(6,100):(100,1)"}, {"y", f32, "(6,100):(100,1)"}},
       "t = where(iota(0) * 50 > iota(1), x, -inf); m = max(t); e = exp(t - where(m > -inf, m, "
       "0)); "
       "y = e * (1 / clamp(sum(e), 1e-30, inf))",
       {.register_vectors = 0}},
      {"masked, without a guard",
       {{"x", f32, "(6,100):(100,1)"}, {"y", f32, "(6,100):(100,1)"}},
       "t = where(iota(0) * 50 > iota(1), x, -inf); e = exp(t - max(t)); y = e / sum(e)",
       {.register_vectors = 0}},
      {"of normalised values",
       {{"x", f32, "(4,333):(333,1)"}, {"y", f32, "(4,333):(333,1)"}},
       "t = (x - mean(x)) * 3; e = exp(t - max(t)); y = e / sum(e)",
       {.register_vectors = 0}},
      {"two sums below one maximum, and one of other terms",
       {{"x", bf16, "(5,640):(640,1)"}, {"y", f32, "(5,640):(640,1)"}, {"w", f32, "5:1"}},
       "d = x - max(x); e = exp(d); y = e / sum(e); w = sum(exp2(d)) + sum(e * e)",
       {.register_vectors = 0}},
  };
}

TEST(EmulatedSoftmax, AgreesWithTheReference) {
  EmulatedKernels kernels;
  for (const SoftmaxCase& c : softmax_cases()) {
    RandomCase random_case{.op = {.tensors = c.tensors, .formula = c.formula, .tuning = c.tuning},
                           .symbols = {},
                           .scalars = {}};
    kernels.add(c.what, std::move(random_case));
  }
  ASSERT_TRUE(kernels.compile());
  Random random(11);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
