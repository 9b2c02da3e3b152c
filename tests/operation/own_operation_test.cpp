// An operation that the library does not know passes through all of it: only the operation's own
// folder is asked what it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compile/nvrtc.hpp"
#include "fake/expect_error.hpp"
#include "fake/fake_driver.hpp"
#include "fake/fake_runtime.hpp"
#include "operation/fill.hpp"
#include "tilejit/benchmark.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/dispatcher.hpp"
#include "tilejit/explain.hpp"
#include "tilejit/reference.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {
namespace {

using launch::Internals;
using ::testing::HasSubstr;

constexpr spec::Kind kKinds[] = {{.name = "fill", .read = test::read_fill}};
const Target kTarget{.major = 9, .minor = 0, .feature = 'a'};

Operation fill(int extent, int step = 4) {
  const std::string n = std::to_string(extent);
  const std::string text = R"({"op": "fill", "tensors": {"y": {"dtype": "f32", "layout": ")" + n +
                           R"(:1", "access": "out"}}, "scalars": {"value": "f32"}, "step": )" +
                           std::to_string(step) + "}";
  return spec::read_specs(text, kKinds).front();
}

TEST(OwnOperation, IsReadCheckedAndWritten) {
  const Operation op = fill(1000);
  EXPECT_EQ(op.name(), "fill");
  EXPECT_EQ(op.fused(), nullptr);
  EXPECT_EQ(resolve_access(op), std::vector<Access>{Access::out});
  EXPECT_EQ(spec::read_specs(to_json(op), kKinds).front(), op);
  EXPECT_FALSE(op == Operation(Fused{}));
  EXPECT_EQ(op.with_tuning({.threads = 64}).tuning().threads, 64);
  expect_error(ErrorCode::invalid_spec, "step starts at 1", [] { (void)fill(1000, 0); });
  expect_error(ErrorCode::invalid_spec, "use \"fused\"", [&] { (void)parse_specs(to_json(op)); });
}

TEST(OwnOperation, IsRenderedExplainedAndCounted) {
  const Operation op = fill(1000);
  EXPECT_THAT(render_plan(op, kTarget), HasSubstr("\"bytes_moved\": 4000"));
  EXPECT_THAT(render_source(op, kTarget), HasSubstr("#define STEP 4"));
  EXPECT_THAT(explain_plan(op, kTarget), HasSubstr("Every element gets one value."));
  EXPECT_THAT(explain_plan_json(op, kTarget), HasSubstr("\"template\": \"fill\""));
  EXPECT_EQ(operation_class(op, kTarget), "fill");
  EXPECT_EQ(declared_work(op).bytes, 4000);
}

TEST(OwnOperation, IsComputedAndVerifiedOnTheHost) {
  std::vector<float> y(1000, -1);
  const HostArguments args{.tensors = {y.data()}, .scalars = {Number(2.5)}};
  const void* const actual[] = {y.data()};
  EXPECT_EQ(verify(fill(1000), args, actual).mismatches, 1000);
  evaluate(fill(1000), args);
  EXPECT_TRUE(verify(fill(1000), args, actual).passed);
}

TEST(OwnOperation, IsTuned) {
  const Operation op = fill(1000);
  const auto candidates = tuning_candidates(op, kTarget, 8);
  const auto trials = run_trials(
      op, candidates, [](const Operation& pinned) { return pinned.tuning().threads ? 0.5 : 1.0; });
  EXPECT_EQ(best_trial(trials), 1u);
}

TEST(OwnOperation, HasAKeyOfItsOwn) {
  Compiler compiler(kInMemory);
  const KeyExplanation key = compiler.explain(fill(1000), kTarget);
  EXPECT_THAT(key.fields, HasSubstr("\"generator\":\"the first of its kind\""));
  for (const Operation& other :
       {fill(1001), fill(1000, 2), fill(1000).with_tuning({.threads = 64})}) {
    EXPECT_NE(compiler.explain(other, kTarget).key, key.key);
  }
}

class OwnOperationCompiled : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!compile::find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  }
};

TEST_F(OwnOperationCompiled, IsCompiledLaunchedBoundAndSealed) {
  FakeDriver fake;
  fake.param_bytes = 20;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = runtime.compile(fill(1000));
  EXPECT_EQ(kernel.artifact().tier, CacheTier::compiled);
  kernel.launch(nullptr, {on_device(0x10000), 2.5});
  BoundLaunch bound = kernel.bind({on_device(0x10000), 2.5});
  bound.launch(nullptr);
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_EQ(fake.launches[0].blocks, 1u);  // 250 steps by 256 threads
  EXPECT_EQ(fake.launches[0].threads, 256u);
  EXPECT_EQ(field_at<std::uint64_t>(fake.launches[0].params.data(), 0), 0x10000u);
  EXPECT_EQ(field_at<std::int64_t>(fake.launches[0].params.data(), 8), 1000);
  EXPECT_EQ(field_at<float>(fake.launches[0].params.data(), 16), 2.5f);
  runtime.seal();
  EXPECT_EQ(runtime.compile(fill(1000)).op(), fill(1000));
  try {
    (void)runtime.compile(fill(1000, 2));
    FAIL() << "it was compiled";
  } catch (const MissError& miss) {
    EXPECT_THAT(miss.what(), HasSubstr("differs in /step: 4, not 2"));
  }
}

TEST_F(OwnOperationCompiled, IsWarmedAheadThroughTheCache) {
  Compiler compiler(kInMemory);
  EXPECT_EQ(compiler.locate(fill(1000), kTarget).tier, std::nullopt);
  EXPECT_EQ(compiler.compile_async(fill(1000), kTarget).get().tier, CacheTier::compiled);
  EXPECT_EQ(compiler.locate(fill(1000), kTarget).tier, CacheTier::memory);
  EXPECT_EQ(compiler.compile(fill(1000), kTarget).tier, CacheTier::memory);
}

TEST_F(OwnOperationCompiled, IsDispatchedByTheShapesOfALaunch) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Dispatcher dispatcher(runtime, fill(8), {.known_extent = 64});
  const std::vector<std::int64_t> shape = {48}, stride = {1};
  const std::vector<Argument> args = {Argument(f32, on_device(0x10000), shape, stride), 1.0};
  dispatcher.launch(nullptr, args);
  EXPECT_EQ(to_string(dispatcher.specialize(args).tensors()[0].layout), "(48):(1)");
  EXPECT_EQ(fake.launches.size(), 1u);
}

TEST_F(OwnOperationCompiled, IsBenchmarked) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = runtime.compile(fill(1 << 20));
  const std::vector<std::vector<Argument>> sets = {{on_device(0x10000000), 1.0}};
  const BenchmarkResult result =
      benchmark(runtime, kernel, sets, {}, {.warmup = 3, .min_ms = 0, .max_ms = 0},
                {.copy = 2900, .read = 3000});
  EXPECT_EQ(result.work.bytes, 4 << 20);
  EXPECT_GT(result.gigabytes_per_second(), 0);
}

}  // namespace
}  // namespace tilejit
