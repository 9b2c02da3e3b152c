// Tensors of changing dtypes, shapes and strides on a device, against the reference.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"

namespace tilejit::test {
namespace {

class Dispatch : public Gpu {
 protected:
  /// Launches with `dispatcher` and verifies with the reference; `layouts` places the tensors.
  static void run(Dispatcher& dispatcher, const std::vector<std::string>& layouts) {
    std::vector<std::vector<std::int64_t>> shapes, strides;
    std::vector<std::vector<float>> host;
    std::vector<Buffer> buffers;
    for (const std::string& text : layouts) {
      const Layout layout = parse_layout(text);
      shapes.emplace_back();
      strides.emplace_back();
      for (const Mode& leaf : layout.leaves()) {
        shapes.back().push_back(leaf.extent.value());
        strides.back().push_back(leaf.stride.value());
      }
      host.push_back(counting(static_cast<std::size_t>(cosize(layout))));
      for (float& value : host.back()) value = value / 64 - 3;
      buffers.push_back(upload(*runtime(), host.back()));
    }
    std::vector<Argument> args;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      args.emplace_back(f32, buffers[i].data(), shapes[i], strides[i]);
    }
    dispatcher.launch(legacy_stream(), args);
    const Operation specialized = dispatcher.specialize(args);
    std::vector<Tensor> tensors = specialized.tensors();
    HostArguments inputs;
    std::vector<std::vector<float>> after;
    std::vector<const void*> actual;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      tensors[i].layout = parse_layout(layouts[i]);
      inputs.tensors.push_back(host[i].data());
      after.push_back(download<float>(buffers[i]));
    }
    for (const std::vector<float>& values : after) actual.push_back(values.data());
    const Verification result = verify(specialized.with_tensors({}, tensors), inputs, actual);
    EXPECT_TRUE(result.passed) << result.first_mismatch;
  }
};

TEST_F(Dispatch, OfElementwiseFormulas) {
  Dispatcher add(*runtime(), Fused{.name = "add",
                                   .tensors = {{.name = "a"}, {.name = "b"}, {.name = "c"}},
                                   .formula = "c = a + b"});
  const std::vector<std::vector<std::string>> kLaunches = {
      {"(64,96):(96,1)", "(64,96):(96,1)", "(64,96):(96,1)"},
      {"(33,40):(40,1)", "(33,40):(40,1)", "(33,40):(40,1)"},
      {"(33,41):(41,1)", "(33,41):(1,33)", "(33,41):(41,1)"},
      {"(64,96):(128,1)", "(96):(1)", "(64,96):(96,1)"},
      {"(64,1):(1,1)", "(64,96):(0,1)", "(64,96):(96,1)"},
      {"(5,6,7):(42,7,1)", "(6,7):(7,1)", "(5,6,7):(1,5,30)"},
      {"(70):(3)", "(70):(2)", "(70):(1)"},
      {"(64,2):(2,1)", "(64,2):(2,1)", "(64,2):(2,1)"},
  };
  for (const auto& layouts : kLaunches) {
    SCOPED_TRACE(layouts[0]);
    run(add, layouts);
  }
  EXPECT_EQ(add.size(), kLaunches.size() - 1);  // the first two share one
}

TEST_F(Dispatch, OfRowsAndReductions) {
  Dispatcher softmax(*runtime(), Fused{.name = "softmax",
                                       .tensors = {{.name = "x"}, {.name = "y"}},
                                       .formula = "e = exp(x - max(x))\ny = e / sum(e)"});
  run(softmax, {"(10,256):(256,1)", "(10,256):(256,1)"});
  run(softmax, {"(77,1000):(1000,1)", "(77,1000):(1000,1)"});
  run(softmax, {"(77,1001):(1001,1)", "(77,1001):(1001,1)"});
  EXPECT_EQ(softmax.size(), 2U);
  Dispatcher sum(*runtime(), Fused{.name = "sum",
                                   .tensors = {{.name = "x"}, {.name = "y"}},
                                   .formula = "y = sum(x, axis=1)"});
  run(sum, {"(10,256):(256,1)", "(10):(1)"});
  run(sum, {"(64,64):(64,1)", "(64):(1)"});
  run(sum, {"(6,20,30):(600,30,1)", "(6,30):(30,1)"});
}

}  // namespace
}  // namespace tilejit::test
