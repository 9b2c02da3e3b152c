// Kernels with given thread-value layouts on the device.
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class ThreadValueOnGpu : public Gpu {};

TEST_F(ThreadValueOnGpu, EveryElementIsRight) {
  const std::string rows = "(250,1000):(1000,1)", columns = "(250,1000):(1,250)";
  const std::pair<const char*, const char*> layouts[] = {
      {"(4,64):(64,1)", "(16,8):(8,1)"},
      {"(8,32):(1,8)", "(4,4):(4,1)"},
      {"128:1", "8:1"},
      {"(32,4):(1,32)", "(2,16):(1,2)"},
      {"(1,1024):(1,1)", "(1,1):(1,1)"},
      {"(3,32):(32,1)", "(5,6):(6,1)"},
  };
  Random random(3);
  for (const DType dtype : {u8, f16, f32, f64}) {
    for (const auto& [thr, val] : layouts) {
      for (const std::string& y : {rows, columns}) {
        RandomCase c{
            .op = make_op(dtype, {{"x", rows}, {"b", "(1000):(1)"}, {"y", y}}, "y = x + b"),
            .symbols = {},
            .scalars = {}};
        c.op.tuning.tv = {.thr = thr, .val = val};
        SCOPED_TRACE(to_json(c.op));
        run_and_verify(c, random);
      }
    }
  }
}

}  // namespace
}  // namespace tilejit::test
