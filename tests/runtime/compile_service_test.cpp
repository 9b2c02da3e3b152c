#include "tilejit/compile_service.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compile/nvrtc.hpp"
#include "runtime/expect_error.hpp"
#include "runtime/fake_driver.hpp"
#include "runtime/fake_runtime.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit {
namespace {

using runtime::Internals;

const Target kTarget{.major = 8, .minor = 0, .feature = 0};

Fused scale_op(const std::string& name, const std::string& formula = "y = x * 2.0") {
  return {.name = name,
          .tensors = {{.name = "x", .dtype = f32, .layout = "1024:1"},
                      {.name = "y", .dtype = f32, .layout = "1024:1"}},
          .formula = formula};
}

class CompileServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!compile::find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  }
};

TEST_F(CompileServiceTest, CompilesAsTheCompilerDoes) {
  Compiler compiler(kInMemory);
  const PendingArtifact pending = compiler.compile_async(scale_op("twice"), kTarget);
  EXPECT_EQ(pending.get().tier, CacheTier::compiled);
  const Artifact again = compiler.compile(scale_op("twice"), kTarget);
  EXPECT_EQ(again.tier, CacheTier::memory);
  EXPECT_EQ(again.cubin, pending.get().cubin);
  EXPECT_EQ(compiler.service_stats().done, 1U);
}

TEST_F(CompileServiceTest, ThrowsAtOnceForASpecThatIsWrong) {
  Compiler compiler(kInMemory);
  expect_error(ErrorCode::invalid_formula, "",
               [&] { (void)compiler.compile_async(scale_op("wrong", "y = x +"), kTarget); });
  EXPECT_EQ(compiler.service_stats().requests, 0U);
}

TEST_F(CompileServiceTest, PreparesKernelsInTheirOrder) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const std::vector<Fused> ops = {scale_op("a"), scale_op("b"), scale_op("a")};
  const std::vector<Kernel> kernels = runtime.prepare(ops);
  ASSERT_EQ(kernels.size(), 3U);
  for (std::size_t i = 0; i < ops.size(); ++i) EXPECT_EQ(kernels[i].op(), ops[i]);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 2);
  EXPECT_EQ(runtime.compile(ops[1]).artifact().tier, CacheTier::memory);
}

TEST_F(CompileServiceTest, PreparesTheOthersWhereOneFails) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const std::vector<Fused> ops = {scale_op("wrong", "y = z"), scale_op("a")};
  expect_error(ErrorCode::invalid_formula, "z", [&] { (void)runtime.prepare(ops); });
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 1);
  EXPECT_EQ(runtime.compile(ops[1]).artifact().tier, CacheTier::memory);
}

TEST_F(CompileServiceTest, CompilesOnceForDevicesThatAreAlike) {
  FakeDriver fake;
  fake.device_count = 2;
  Options second = kInMemory;
  second.device = 1;
  Runtime first_device = Internals::make_runtime(kInMemory, fake.table);
  Runtime second_device = Internals::make_runtime(second, fake.table);
  Runtime* const runtimes[] = {&first_device, &second_device};
  const std::vector<Fused> ops = {scale_op("a"), scale_op("b")};
  const auto kernels = prepare(runtimes, ops);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 4);
  EXPECT_EQ(first_device.compiler().service_stats().done, 2U);
  EXPECT_EQ(second_device.compiler().service_stats().requests, 0U);
  EXPECT_EQ(second_device.compile(ops[0]).artifact().tier, CacheTier::memory);
}

}  // namespace
}  // namespace tilejit
