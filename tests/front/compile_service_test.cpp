#include "tilejit/compile_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "compile/nvrtc.hpp"
#include "fake/expect_error.hpp"
#include "fake/fake_driver.hpp"
#include "fake/fake_runtime.hpp"
#include "plan/plan.hpp"
#include "tilejit/bound_launch.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit {
namespace {

using namespace std::chrono_literals;
using launch::Internals;
using ::testing::HasSubstr;

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
  const std::vector<Operation> ops = {scale_op("a"), scale_op("b"), scale_op("a")};
  const std::vector<Kernel> kernels = runtime.prepare(ops);
  ASSERT_EQ(kernels.size(), 3U);
  for (std::size_t i = 0; i < ops.size(); ++i) EXPECT_EQ(kernels[i].op(), ops[i]);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 2);
  EXPECT_EQ(runtime.compile(ops[1]).artifact().tier, CacheTier::memory);
}

TEST_F(CompileServiceTest, PreparesTheOthersWhereOneFails) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const std::vector<Operation> ops = {scale_op("wrong", "y = z"), scale_op("a")};
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
  const std::vector<Operation> ops = {scale_op("a"), scale_op("b")};
  const auto kernels = prepare(runtimes, ops);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 4);
  EXPECT_EQ(first_device.compiler().service_stats().done, 2U);
  EXPECT_EQ(second_device.compiler().service_stats().requests, 0U);
  EXPECT_EQ(second_device.compile(ops[0]).artifact().tier, CacheTier::memory);
}

Options with_effort(CompileEffort effort) {
  Options options = kInMemory;
  options.compile_effort = effort;
  return options;
}

TEST_F(CompileServiceTest, GivesEachEffortAKeyOfItsOwn) {
  Compiler full(kInMemory);
  Compiler quick(with_effort(CompileEffort::quick));
  Compiler tiered(with_effort(CompileEffort::tiered));
  const Fused op = scale_op("effort");
  EXPECT_NE(full.explain(op, kTarget).key, quick.explain(op, kTarget).key);
  EXPECT_EQ(full.explain(op, kTarget).key, tiered.explain(op, kTarget).key);
  EXPECT_THAT(quick.explain(op, kTarget).fields, HasSubstr("--Ofast-compile=min"));
  EXPECT_EQ(quick.compile(op, kTarget).key, quick.explain(op, kTarget).key);
}

template <typename Condition>
void wait_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(condition());
}

TEST_F(CompileServiceTest, LaunchesTheQuickBuildUntilTheFullOneIsThere) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(with_effort(CompileEffort::tiered), fake.table);
  Compiler& compiler = runtime.compiler();
  const Fused op = scale_op("tiered");
  const std::string full_key = compiler.explain(op, runtime.device().target).key;
  {
    const Kernel kernel = runtime.compile(op);
    const Kernel copy = kernel;
    const Artifact& first = kernel.artifact();
    wait_until([&] { return compiler.service_stats().swaps == 1; });
    EXPECT_NE(first.key, full_key);
    EXPECT_EQ(kernel.artifact().key, full_key);
    EXPECT_EQ(copy.artifact().key, full_key);
    EXPECT_EQ(fake.count("cuLibraryLoadData"), 2);
    EXPECT_EQ(fake.libraries, 2);  // a graph may hold the first one's functions
    copy.launch(kStream, {on_device(0x10000), on_device(0x20000)});
    // Functions are numbered in loading order.
    EXPECT_EQ(fake.launches.at(0).function, reinterpret_cast<CUfunction>(fake.entries.size()));
  }
  const Kernel again = runtime.compile(op);
  EXPECT_EQ(again.artifact().key, full_key);
  const ServiceStats stats = compiler.service_stats();
  EXPECT_EQ(stats.quick_builds, 1U);
  EXPECT_EQ(stats.swaps, 1U);
  EXPECT_EQ(stats.swap_failures, 0U);
}

/// Function, grid, block and parameters are swapped together.
TEST_F(CompileServiceTest, LaunchesALightPlanUntilTheFullOneIsThere) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(with_effort(CompileEffort::tiered), fake.table);
  Compiler& compiler = runtime.compiler();
  // The sum of all elements: in the full plan, many blocks leave partial results for a second
  // kernel.
  const Fused op = {.name = "total",
                    .tensors = {{.name = "x", .dtype = f32, .layout = "1048576:1"},
                                {.name = "y", .dtype = f32, .layout = "1:1"}},
                    .formula = "y = sum(x)"};
  const plan::Plan full = plan::make_plan(op, formula::analyze(op), runtime.device().target);
  const auto light = plan::make_light_plan(op, formula::analyze(op), full);
  ASSERT_TRUE(light);
  ASSERT_GT(plan::rows_of(full)->splits, 1);
  const Kernel kernel = runtime.compile(op);
  BoundLaunch bound = kernel.bind({on_device(0x10000), on_device(0x8000000)});
  bound.launch(kStream);
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].threads, static_cast<unsigned>(light->threads));
  EXPECT_EQ(fake.launches[0].blocks, 1u);
  wait_until([&] { return compiler.service_stats().swaps == 1; });
  kernel.launch(kStream, {on_device(0x10000), on_device(0x8000000)});
  ASSERT_EQ(fake.launches.size(), 3u);  // with the kernel that combines
  EXPECT_EQ(fake.launches[1].threads, static_cast<unsigned>(full.threads));
  EXPECT_EQ(fake.launches[1].blocks, static_cast<unsigned>(plan::rows_of(full)->splits));
  EXPECT_NE(fake.launches[1].function, fake.launches[0].function);
  // A bound launch stays as it was bound, and is still correct.
  bound.set(0, on_device(0x1000000));
  bound.launch(kStream);
  ASSERT_EQ(fake.launches.size(), 4u);
  EXPECT_EQ(fake.launches[3].function, fake.launches[0].function);
  EXPECT_EQ(fake.launches[3].blocks, 1u);
  kernel.bind({on_device(0x10000), on_device(0x8000000)}).launch(kStream);
  EXPECT_EQ(fake.launches.size(), 6u);
}

TEST_F(CompileServiceTest, BoundLaunchesFollowAFullBuildOfTheSamePlan) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(with_effort(CompileEffort::tiered), fake.table);
  const Kernel kernel = runtime.compile(scale_op("follows"));
  const BoundLaunch bound = kernel.bind({on_device(0x10000), on_device(0x20000)});
  wait_until([&] { return runtime.compiler().service_stats().swaps == 1; });
  bound.launch(kStream);
  kernel.launch(kStream, {on_device(0x10000), on_device(0x20000)});
  EXPECT_EQ(fake.launches.at(0).function, fake.launches.at(1).function);
}

TEST_F(CompileServiceTest, IsNotTieredWhereItIsDeterministic) {
  FakeDriver fake;
  Options options = with_effort(CompileEffort::tiered);
  options.deterministic = true;
  Runtime runtime = Internals::make_runtime(options, fake.table);
  const Fused op = scale_op("deterministic");
  const Kernel kernel = runtime.compile(op);
  EXPECT_EQ(kernel.artifact().key, runtime.compiler().explain(op, runtime.device().target).key);
  EXPECT_EQ(runtime.compiler().service_stats().quick_builds, 0U);
}

TEST_F(CompileServiceTest, StaysQuickWhereTheFullBuildCannotBeLoaded) {
  FakeDriver fake;
  {
    Runtime runtime = Internals::make_runtime(with_effort(CompileEffort::tiered), fake.table);
    const Fused op = scale_op("stays");
    // The first load succeeds, the second fails.
    static decltype(fake.table.cuLibraryLoadData_) load;
    load = fake.table.cuLibraryLoadData_;
    static std::atomic<int> loads;
    loads = 0;
    fake.table.cuLibraryLoadData_ = [](CUlibrary* library, const void* code, CUjit_option* a,
                                       void** b, unsigned c, CUlibraryOption* d, void** e,
                                       unsigned f) {
      return ++loads == 2 ? CUDA_ERROR_OUT_OF_MEMORY : load(library, code, a, b, c, d, e, f);
    };
    ::testing::internal::CaptureStderr();
    const Kernel kernel = runtime.compile(op);
    const std::string quick_key = kernel.artifact().key;
    wait_until([&] { return runtime.compiler().service_stats().swap_failures == 1; });
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("stays the quick build"));
    EXPECT_EQ(kernel.artifact().key, quick_key);
  }
  EXPECT_EQ(fake.alive(), 0);
}

#ifdef TILEJIT_TEST_WORKER

/// `jobs` workers compile everything.
Options in_workers(int jobs) {
  Options options = kInMemory;
  options.compile_jobs = jobs;
  options.compile_threads = 0;
  options.worker_path = TILEJIT_TEST_WORKER;
  return options;
}

TEST_F(CompileServiceTest, CompilesTheSameInWorkers) {
  Compiler here(kInMemory);
  Compiler away(in_workers(1));
  const Fused op = scale_op("same");
  const Artifact made = away.compile(op, kTarget);
  EXPECT_EQ(*made.cubin, *here.compile(op, kTarget).cubin);
  EXPECT_GT(made.times.nvrtc, 0);
  const auto metadata = nlohmann::json::parse(*made.metadata);
  EXPECT_EQ(metadata["compiler_version"], here.nvrtc().version);
  EXPECT_GT(metadata["registers"].get<int>(), 0);
  const ServiceStats stats = away.service_stats();
  EXPECT_EQ(stats.in_workers, 1U);
  EXPECT_EQ(stats.in_process, 0U);
  EXPECT_EQ(stats.worker_starts, 1U);
  EXPECT_EQ(stats.workers, 1U);
  EXPECT_EQ(stats.compiled.total(), 1U);
}

TEST_F(CompileServiceTest, PassesACompilersRefusalOnFromWorkers) {
  Compiler away(in_workers(1));
  const std::string message = [&] {
    Compiler here(kInMemory);
    try {
      (void)here.compile(scale_op("x"), Target{.major = 77, .minor = 7, .feature = 0});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  expect_error(ErrorCode::unsupported, message, [&] {
    (void)away.compile(scale_op("x"), Target{.major = 77, .minor = 7, .feature = 0});
  });
  EXPECT_EQ(away.service_stats().retries, 0U);
}

TEST_F(CompileServiceTest, AsksOnceForWhatFails) {
  Compiler compiler(in_workers(2));
  std::vector<PendingArtifact> pending;
  for (int i = 0; i < 1000; ++i) {
    pending.push_back(
        compiler.compile_async(scale_op("x"), Target{.major = 77, .minor = 7, .feature = 0}));
  }
  for (const PendingArtifact& one : pending) {
    expect_error(ErrorCode::unsupported, "sm_777", [&] { (void)one.get(); });
  }
  const cache::Counters counters = compiler.cache().counters();
  EXPECT_EQ(counters.make_failures, 1U);
}

/// How many kernels the long tests compile.
int test_kernels(int usual) {
  const char* text = std::getenv("TILEJIT_TEST_KERNELS");
  return text != nullptr ? std::atoi(text) : usual;
}

void kill_a_worker(std::mt19937& random) {
  std::vector<pid_t> pids;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "children");
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  }
  if (!pids.empty()) ::kill(pids[random() % pids.size()], SIGKILL);
}

TEST_F(CompileServiceTest, LosesNoKernelWhenWorkersAreKilled) {
  const int kernels = test_kernels(20);
  std::string folder = (std::filesystem::temp_directory_path() / "tilejit_service_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Options options = in_workers(3);
  options.cache_folder = folder;
  {
    Compiler compiler(options);
    std::vector<PendingArtifact> pending;
    for (int i = 0; i < kernels; ++i) {
      pending.push_back(compiler.compile_async(scale_op("k" + std::to_string(i)), kTarget));
    }
    std::mt19937 random(1);
    for (std::uint64_t next = 1; compiler.service_stats().done < pending.size();) {
      std::this_thread::sleep_for(2ms);
      if (compiler.service_stats().done < next) continue;
      kill_a_worker(random);
      next += 4;
    }
    for (const PendingArtifact& one : pending) EXPECT_FALSE(one.get().cubin->empty());
    EXPECT_EQ(compiler.cache().counters().made, pending.size());
    EXPECT_GT(compiler.service_stats().worker_crashes, 0U);
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no zombie
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    EXPECT_NE(file.path().extension(), ".tmp") << file.path();
  }
  std::filesystem::remove_all(folder);
}

#endif

}  // namespace
}  // namespace tilejit
