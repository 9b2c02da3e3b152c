// Attention as one kernel, against the reference, which takes it step by step; and equal bits
// twice. TILEJIT_TEST_CASES sets how many random ones, TILEJIT_TEST_SEED the first seed.
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "gpu/gpu_fixture.hpp"
#include "plan/plan.hpp"
#include "support/attention_case.hpp"
#include "support/number_from_env.hpp"

namespace tilejit::test {
namespace {

class Attention : public Gpu {};

/// What chooses each family: by warpgroups where the device has them, and by warps.
const Tuning kKernels[] = {{}, {.threads = 128}};

struct AttentionCase {
  const char* what;
  const char* query;  // the layout of q; of k and v; of y
  const char* keys;
  const char* values;
  const char* output;
  const char* score;  // t of s
  DType dtype = bf16;
};

bool is_seen(const std::string& mask, std::int64_t key) {
  if (mask == "iota(-1) < 150") return key < 150;
  if (mask == "iota(-1) % 2 == 0") return key % 2 == 0;
  return mask == "keep != 0" ? key < 30 || key >= 170 : key >= 100 || key < 20;
}

constexpr const char* kCausal = "where(iota(-1) <= iota(-2) + (extent(-1) - extent(-2)), s, -inf)";

const AttentionCase kCases[] = {
    {"plain", "(2,3,256,128)", "(2,3,384,128)", "(2,3,384,128)", "(2,3,256,128)", "s"},
    {"ragged", "(2,3,77,64)", "(2,3,301,64)", "(2,3,301,64)", "(2,3,77,64)", "s"},
    {"causal", "(3,520,64)", "(3,520,64)", "(3,520,64)", "(3,520,64)", kCausal},
    {"causal, more keys", "(3,200,128)", "(3,500,128)", "(3,500,128)", "(3,200,128)", kCausal},
    {"window", "(2,640,64)", "(2,640,64)", "(2,640,64)", "(2,640,64)",
     "where(abs(iota(-1) - iota(-2)) < 100, s, -inf)"},
    {"chunks", "(2,640,64)", "(2,640,64)", "(2,640,64)", "(2,640,64)",
     "where(iota(-1) // 200 == iota(-2) // 200, s, -inf)"},
    {"soft cap, f16", "(2,256,128)", "(2,256,128)", "(2,256,128)", "(2,256,128)",
     "20 * tanh(s / 20)", f16},
    {"shared heads", "(2,2,4,130,64)", "(2,2,1,260,64)", "(2,2,1,260,64)", "(2,2,4,130,64)",
     kCausal},
    {"narrow values", "(2,150,96)", "(2,260,96)", "(2,260,80)", "(2,150,80)", "s"},
    {"partial chunks", "(2,70,20):(1680,24,1)", "(2,300,20):(7200,24,1)", "(2,300,36):(12000,40,1)",
     "(2,70,36)", kCausal},
    {"many heads", "(9,32,130,128)", "(9,32,200,128)", "(9,32,200,128)", "(9,32,130,128)", kCausal},
    {"more batches than a tensor map", "(2,2,2,2,66,64)",
     "(2,2,2,2,100,64):(6400,12800,25600,51200,64,1)",
     "(2,2,2,2,100,64):(51200,25600,12800,6400,64,1)", "(2,2,2,2,66,64)", "s"},
};

RandomCase case_of(const AttentionCase& c, const Tuning& tuning = {}) {
  const std::string type(to_string(c.dtype));
  return {.op = {.name = "attention",
                 .tensors = {{"q", c.dtype, c.query},
                             {"k", c.dtype, c.keys},
                             {"v", c.dtype, c.values},
                             {"y", c.dtype, c.output}},
                 .formula = std::string("s = (q @ k.T) * 0.125; t = ") + c.score +
                            "; e = exp(t - max(t)); y = " + type + "(e / sum(e)) @ v",
                 .tuning = tuning},
          .symbols = {},
          .scalars = {}};
}

TEST_F(Attention, AgreesWithTheReferenceAndHasEqualBitsTwice) {
  for (std::size_t i = 0; i < 2 * std::size(kCases); ++i) {
    const AttentionCase& c = kCases[i / 2];
    SCOPED_TRACE(std::string(c.what) + (i % 2 == 0 ? "" : ", by warps"));
    const RandomCase one = case_of(c, kKernels[i % 2]);
    const auto run = [&] {
      Random random(7);
      std::uniform_real_distribution<double> real(-2.0, 2.0);
      return run_and_verify(one, [&] { return real(random); });
    };
    std::vector<GuardedTensor> runs[] = {run(), run()};
    EXPECT_EQ(runs[0][3].bytes(), runs[1][3].bytes());
  }
}

/// Values that no row sees may be anything: outputs are the same bits.
TEST_F(Attention, LeavesOutValuesOfExcludedKeys) {
  const char* const masks[] = {"iota(-1) < 150", "iota(-1) % 2 == 0",
                               "iota(-1) >= 100 or iota(-1) < 20", "keep != 0"};
  for (const char* const mask : masks) {
    for (const int kind : {0, 1, 2, 3}) {
      const DType type = kind % 2 == 0 ? bf16 : f16;
      const std::string name(to_string(type));
      SCOPED_TRACE(mask + (" of " + name) + (kind < 2 ? "" : ", by warps"));
      RandomCase one{.op = {.name = "attention",
                            .tensors = {{"q", type, "(2,200,64)"},
                                        {"k", type, "(2,290,64)"},
                                        {"v", type, "(2,290,72)"},
                                        {"y", type, "(2,200,72)"}},
                            .formula = "t = where(" + std::string(mask) +
                                       ", (q @ k.T) * 0.125, -inf); e = exp(t - max(t)); y = " +
                                       name + "(e / sum(e)) @ v",
                            .tuning = kKernels[kind / 2]},
                     .symbols = {},
                     .scalars = {}};
      const bool has_tensor = std::string(mask).starts_with("keep");
      if (has_tensor) one.op.tensors.insert(one.op.tensors.begin(), {"keep", i32, "(1,290)"});
      const auto run = [&](double odd) {
        std::int64_t drawn = 0;
        Random random(7);
        std::uniform_real_distribution<double> real(-2.0, 2.0);
        const std::int64_t before = has_tensor ? 290 + 2 * (200 + 290) * 64 : 2 * (200 + 290) * 64;
        return run_and_verify(one, [&]() -> double {
          const std::int64_t at = drawn++;
          if (has_tensor && at < 290) return at >= 30 && at < 170 ? 0 : 1;
          const double x = real(random);
          if (at < before) return x;
          const std::int64_t key = (at - before) / 72 % 290;
          return is_seen(mask, key) ? x : odd;
        });
      };
      std::vector<GuardedTensor> clean = run(0);
      for (const double odd : {std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_EQ(run(odd).back().bytes(), clean.back().bytes()) << odd;
    }
  }
}

/// Values of keys that some rows see reach these rows only.
TEST_F(Attention, PassesOddValuesToRowsThatSeeThem) {
  for (const Tuning& tuning : kKernels) {
    const RandomCase one = case_of(kCases[2], tuning);
    std::int64_t drawn = 0;
    Random random(7);
    std::uniform_real_distribution<double> real(-2.0, 2.0);
    constexpr std::int64_t kElements = std::int64_t{3} * 520 * 64;
    (void)run_and_verify(one, [&]() -> double {
      const std::int64_t at = drawn++ - 2 * kElements;
      const double x = real(random);
      if (at == 7 * 64 + 3 || at == 300 * 64 + 40) return std::nan("");
      return at == 400 * 64 + 5 ? std::numeric_limits<double>::infinity() : x;
    });
  }
}

/// Some are not: if there is one query, for instance.
bool is_one_kernel(const Fused& op) {
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), parse_target("sm_90a"));
  return plan::parts_of(plan).size() == 1;
}

class RandomAttention : public Attention, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Families, RandomAttention, testing::Values("by_default", "by_warps"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RandomAttention, AgreesWithTheReferenceAndHasEqualBitsTwice) {
  const std::uint64_t first = number_from_env("TILEJIT_TEST_SEED", 1);
  const std::uint64_t count = number_from_env("TILEJIT_TEST_CASES", 20);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random shape(seed);
    RandomCase one = random_attention(shape);
    if (GetParam() == std::string("by_warps") && is_one_kernel(one.op)) one.op.tuning = kKernels[1];
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + to_json(one.op));
    const double size = seed % 8 == 0 ? 40 : 2;  // some scores are around 10^4
    const auto run = [&] {
      Random random(seed);
      std::uniform_real_distribution<double> real(-size, size);
      return run_and_verify(one, [&] { return real(random); });
    };
    std::vector<GuardedTensor> runs[] = {run(), run()};
    EXPECT_EQ(runs[0].back().bytes(), runs[1].back().bytes());
  }
}

}  // namespace
}  // namespace tilejit::test
