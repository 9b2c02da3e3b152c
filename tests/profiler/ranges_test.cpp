// What an attached profiler sees of this library.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "tilejit/bound_launch.hpp"
#include "tilejit/dispatcher.hpp"

namespace tilejit {
namespace {

class Ranges : public testing::Test {
 protected:
  static void SetUpTestSuite() {  // before NVTX looks for it, which happens only once
    setenv("NVTX_INJECTION64_PATH", TILEJIT_RECORDING_TOOL, 1);
  }

  /// What has been recorded since the last call.
  static std::string take() {
    static const auto take_recorded = [] {
      void* tool = dlopen(TILEJIT_RECORDING_TOOL, RTLD_LAZY | RTLD_NOLOAD);
      return tool == nullptr
                 ? nullptr
                 : reinterpret_cast<void (*)(std::string&)>(dlsym(tool, "take_recorded_ranges"));
    }();
    std::string ranges;
    if (take_recorded == nullptr) return "no tool was loaded";
    take_recorded(ranges);
    return ranges;
  }

  static Fused add() {
    return {.name = "add",
            .tensors = {{"a", f32, "(64,32):(32,1)"}, {"b", f32, "(64,32):(32,1)"}},
            .formula = "b = a + 1"};
  }

  FakeDriver fake;
  Runtime runtime = launch::Internals::make_runtime(kInMemory, fake.table);
  const std::vector<Argument> args = {on_device(0x10000), on_device(0x20000)};
};

const std::string kLaunch = "tilejit: launch tilejit_add_f32 (name)\nend\n";

TEST_F(Ranges, NameCompilesLoadsAndLaunches) {
  const Kernel kernel = runtime.compile(add());
  EXPECT_EQ(take(),
            "tilejit: compile tilejit_add_f32\nend\n"
            "tilejit: load tilejit_add_f32\nend\n");
  (void)runtime.compile(add());
  EXPECT_EQ(take(), "") << "nothing is compiled or loaded again";
  kernel.launch(kStream, args);
  EXPECT_EQ(take(), kLaunch);
  kernel.launch(kStream, args, {}, {.priority = -1});
  EXPECT_EQ(take(), kLaunch);
  kernel.bind(args).launch(kStream);
  EXPECT_EQ(take(), kLaunch);
}

TEST_F(Ranges, NameLaunchesOfADispatcher) {
  Dispatcher dispatcher(
      runtime,
      Fused{.name = "add", .tensors = {{.name = "a"}, {.name = "b"}}, .formula = "b = a + 1"});
  const std::array<std::int64_t, 2> shape = {64, 32}, stride = {32, 1};
  const auto launch = [&] {
    dispatcher.launch(kStream, {{f32, on_device(0x10000), shape, stride},
                                {f32, on_device(0x20000), shape, stride}});
  };
  launch();
  (void)take();
  launch();
  EXPECT_EQ(take(), kLaunch);
}

TEST_F(Ranges, EndWhereALaunchFails) {
  const Kernel kernel = runtime.compile(add());
  (void)take();
  fake.fail_on["cuLaunchKernel"] = CUDA_ERROR_UNKNOWN;
  expect_error(ErrorCode::driver_call, "cuLaunchKernel", [&] { kernel.launch(kStream, args); });
  EXPECT_EQ(take(), kLaunch);
  expect_error(ErrorCode::invalid_argument, "takes 2 arguments",
               [&] { kernel.launch(kStream, {}); });
  EXPECT_EQ(take(), "") << "the driver was not called";
}

}  // namespace
}  // namespace tilejit
