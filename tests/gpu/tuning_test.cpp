// Every plan that tuning tries gives the right result on the device.
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class TuningOnGpu : public Gpu {};

TEST_F(TuningOnGpu, EveryCandidateIsRight) {
  const std::string square = "(300,1000):(1000,1)";
  Fused columns = make_op(f32, {{"x", square}, {"y", "(1000):(1)"}}, "y = sum(x)");
  columns.axis = {0};
  const Fused ops[] = {
      make_op(f16, {{"a", square}, {"b", square}, {"y", square}}, "y = a * b + a"),
      make_op(bf16, {{"x", "(300,1000):(1,300)"}, {"y", square}}, "y = x"),
      make_op(f32, {{"x", square}, {"y", square}}, "e = exp(x - max(x))\ny = e / sum(e)"),
      make_op(f32, {{"x", "(3,70001):(70001,1)"}, {"y", "(3):(1)"}}, "y = sum(x)"),
      columns,
  };
  Random random(7);
  for (const Fused& op : ops) {
    for (const Tuning& tuning : tuning_candidates(op, runtime()->device().target, 60)) {
      RandomCase c{.op = op, .symbols = {}, .scalars = {}};
      c.op.tuning = tuning;
      SCOPED_TRACE(to_json(c.op));
      run_and_verify(c, random);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tilejit::test
