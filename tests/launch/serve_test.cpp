// Requests of a Compiler and a Runtime: misses that may not be compiled, sealing, fallbacks,
// recording and counting, and compiling while a stream is being captured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "compile/nvrtc.hpp"
#include "fake/expect_error.hpp"
#include "fake/fake_driver.hpp"
#include "launch/internals.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/manifest.hpp"

namespace tilejit {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const Target kTarget{};  // of the FakeDriver's device

Fused scale_op(const std::string& layout, DType dtype = f32) {
  return {.name = "scale",
          .tensors = {{"x", dtype, layout}, {"y", dtype, layout}},
          .formula = "y = x * 2"};
}

void* device_address(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

/// A separate folder for each test, and NVRTC to fill it with.
class Serve : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tilejit_serve_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    if (!compile::find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] Options options() const { return {.cache_folder = folder_ / "cache"}; }
  [[nodiscard]] Options options(MissPolicy policy) const {
    Options settings = options();
    settings.miss_policy = policy;
    return settings;
  }
  [[nodiscard]] Runtime runtime(Options settings) {
    return launch::Internals::make_runtime(std::move(settings), fake_.table);
  }

  fs::path folder_;
  FakeDriver fake_;
};

TEST_F(Serve, MayNotCompileButFindsWhatTheCacheHas) {
  (void)Compiler(options()).compile(scale_op("64:1"), kTarget);
  Options settings = options(MissPolicy::error);
  settings.nvrtc_path = folder_ / "nowhere";  // nothing needs it
  Compiler compiler(settings);
  EXPECT_EQ(compiler.compile(scale_op("64:1"), kTarget).tier, CacheTier::disk);
  try {
    (void)compiler.compile(scale_op("128:1"), kTarget);
    ADD_FAILURE() << "compiled";
  } catch (const MissError& miss) {
    EXPECT_EQ(miss.code(), ErrorCode::missing);
    EXPECT_EQ(miss.kernel(), "scale");
    EXPECT_EQ(miss.target(), kTarget);
    EXPECT_THAT(miss.what(), HasSubstr("TILEJIT_MISS=error"));
    ASSERT_TRUE(miss.nearest());
    EXPECT_EQ(miss.nearest()->field, "/tensors/x/layout");
    EXPECT_EQ(miss.nearest()->wanted, "128:1");
    EXPECT_EQ(miss.nearest()->present, "64:1");
  }
  const PendingArtifact pending = compiler.compile_async(scale_op("256:1"), kTarget);
  try {
    (void)pending.get();
    ADD_FAILURE() << "compiled";
  } catch (const MissError& miss) {
    EXPECT_EQ(miss.kernel(), "scale");
    ASSERT_TRUE(miss.nearest());
    EXPECT_EQ(miss.nearest()->field, "/tensors/x/layout");
    EXPECT_EQ(miss.nearest()->wanted, "256:1");
  }
  EXPECT_EQ(compiler.cache().counters().made, 0u);
  EXPECT_EQ(compiler.metrics().missed, 2u);
}

TEST_F(Serve, WarnsOfEachCompileWhereAsked) {
  ::testing::internal::CaptureStderr();
  {
    Compiler compiler(options(MissPolicy::warn));
    (void)compiler.compile(scale_op("64:1"), kTarget);
    (void)compiler.compile(scale_op("64:1"), kTarget);
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("compiled tilejit_scale"));
  EXPECT_EQ(log.find('\n'), log.size() - 1) << log;  // one warning
}

TEST_F(Serve, SealedServesWhatItHasAndNothingElse) {
  Runtime rt = runtime(options());
  const Kernel before = rt.compile(scale_op("64:1"));
  const std::vector<Operation> ops = {scale_op("128:1"), scale_op("256:1")};
  (void)rt.prepare(ops);
  (void)Compiler(options()).compile(scale_op("512:1"), kTarget);  // on the disk, never requested
  EXPECT_FALSE(rt.compiler().sealed());
  rt.seal();
  EXPECT_TRUE(rt.compiler().sealed());
  const auto made = rt.compiler().cache().counters().made;
  const auto disk = rt.compiler().cache().counters().disk;
  const int loads = fake_.count("cuLibraryLoadData");
  for (const Operation& op : {Operation(scale_op("64:1")), ops[0], ops[1]}) {
    EXPECT_EQ(rt.compile(op).op(), op);
    EXPECT_EQ(rt.compiler().compile(op, kTarget).tier, CacheTier::memory);
  }
  for (const char* layout : {"512:1", "1024:1"}) {
    EXPECT_THROW((void)rt.compile(scale_op(layout)), MissError);
    EXPECT_THROW((void)rt.compiler().compile(scale_op(layout), kTarget), MissError);
    EXPECT_THROW((void)rt.compiler().compile_async(scale_op(layout), kTarget), MissError);
    const std::vector<Operation> unseen = {scale_op(layout)};
    EXPECT_THROW((void)rt.prepare(unseen), MissError);
  }
  expect_error(ErrorCode::missing, "compiling has been sealed",
               [&] { (void)rt.compile(scale_op("64:1", f16)); });
  EXPECT_EQ(rt.compiler().cache().counters().made, made);
  EXPECT_EQ(rt.compiler().cache().counters().disk, disk);  // it was not asked
  EXPECT_EQ(fake_.count("cuLibraryLoadData"), loads);
  EXPECT_EQ(rt.compiler().metrics().missed, 9u);
  EXPECT_TRUE(rt.compiler().metrics().sealed);
}

TEST_F(Serve, SealedServesAnEntryThatMemoryHasDropped) {
  Options settings = options();
  settings.cache_memory_bytes = 0;
  Compiler compiler(settings);
  (void)compiler.compile(scale_op("64:1"), kTarget);
  compiler.seal();
  EXPECT_EQ(compiler.compile(scale_op("64:1"), kTarget).tier, CacheTier::disk);
  fs::remove_all(folder_ / "cache");
  EXPECT_THROW((void)compiler.compile(scale_op("64:1"), kTarget), MissError);
  EXPECT_EQ(compiler.cache().counters().made, 1u);
}

TEST_F(Serve, FallsBackToAMoreGeneralKernel) {
  Fused general = scale_op("(M,N):(N,1)");
  general.symbols = {{.name = "N", .divisible_by = 8}};
  general.name = "general";
  { (void)runtime(options()).compile(general); }
  Runtime rt = runtime(options(MissPolicy::fallback));
  EXPECT_THROW((void)rt.compile(scale_op("(4,64):(64,1)")), MissError);  // not prepared yet
  (void)rt.compile(general);
  const Kernel kernel = rt.compile(scale_op("(4,64):(64,1)"));
  EXPECT_TRUE(kernel.is_fallback());
  EXPECT_EQ(kernel.op().name(), "general");
  // Bare pointers work: the symbols' values are known.
  kernel.launch(nullptr, {device_address(0x10000), device_address(0x20000)});
  EXPECT_EQ(fake_.launches.size(), 1u);
  const std::vector<std::int64_t> shape = {4, 32}, stride = {32, 1};
  const std::vector<Argument> wrong = {Argument(f32, device_address(0x10000), shape, stride),
                                       device_address(0x20000)};
  expect_error(ErrorCode::invalid_argument, "symbol 'N'", [&] { kernel.launch(nullptr, wrong); });
  expect_error(ErrorCode::invalid_argument, "has no symbol 'N'", [&] {
    kernel.launch(nullptr, std::vector<Argument>{device_address(0x10000), device_address(0x20000)},
                  {{"N", 32}});
  });
  const Kernel partly = rt.compile(scale_op("(M,64):(64,1)"));
  EXPECT_TRUE(partly.is_fallback());
  partly.launch(nullptr, std::vector<Argument>{device_address(0x10000), device_address(0x20000)},
                {{"M", 3}});
  EXPECT_EQ(fake_.launches.size(), 2u);
  EXPECT_THROW((void)rt.compile(scale_op("(4,63):(63,1)")), MissError);  // not a multiple of 8
  EXPECT_THROW((void)rt.compile(scale_op("(4,64):(64,1)", f16)), MissError);
  EXPECT_EQ(rt.compiler().metrics().fallbacks, 2u);
  EXPECT_EQ(rt.compiler().metrics().missed, 5u);
  EXPECT_EQ(rt.compiler().cache().counters().made, 0u);
}

TEST_F(Serve, RecordsWhatIsAskedForOnce) {
  const fs::path record = folder_ / "used.jsonl";
  Options settings = options();
  settings.record = record;
  {
    Runtime rt = runtime(settings);
    for (int i = 0; i < 3; ++i) (void)rt.compile(scale_op("64:1"));
    (void)rt.compiler().compile(scale_op("64:1"), parse_target("sm_80"));
    const std::vector<Operation> ops = {scale_op("128:1")};
    (void)rt.prepare(ops);
    (void)rt.compiler().compile_async(scale_op("256:1"), kTarget).get();
    rt.seal();
    for (int i = 0; i < 2; ++i) {
      EXPECT_THROW((void)rt.compile(scale_op("512:1")), MissError);  // will be warmed next time
    }
  }
  const Manifest manifest = load_manifest(record);
  EXPECT_TRUE(manifest.faults.empty());
  struct Row {
    const char *layout, *target;
    std::uint64_t uses;
  };
  const Row rows[] = {{"64:1", "sm_90a", 3},
                      {"64:1", "sm_80", 1},
                      {"128:1", "sm_90a", 1},
                      {"256:1", "sm_90a", 1},
                      {"512:1", "sm_90a", 2}};
  ASSERT_EQ(manifest.entries.size(), std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    EXPECT_EQ(to_string(manifest.entries[i].op.tensors()[0].layout), rows[i].layout);
    EXPECT_EQ(to_string(manifest.entries[i].target), rows[i].target);
    EXPECT_EQ(manifest.entries[i].uses, rows[i].uses) << i;
  }
}

TEST_F(Serve, CountsRequestsAndTimesSteps) {
  {
    Compiler first(options());
    (void)first.compile(scale_op("64:1"), kTarget);
    (void)first.compile(scale_op("64:1"), kTarget);
    EXPECT_THROW(
        (void)first.compile(scale_op("64:1"), Target{.major = 77, .minor = 7, .feature = 0}),
        Error);
    const Metrics metrics = first.metrics();
    EXPECT_EQ(metrics.answered, (std::array<std::uint64_t, 5>{1, 0, 0, 0, 1}));
    EXPECT_EQ(metrics.failed, 1u);
    EXPECT_EQ(metrics.nvrtc.total(), 1u);
    EXPECT_GT(metrics.nvrtc.sum_ms, 0);
    EXPECT_GT(metrics.cubin_bytes, 0u);
    EXPECT_EQ(metrics.known, 1u);
  }
  Compiler second(options());
  (void)second.compile(scale_op("64:1"), kTarget);
  EXPECT_EQ(second.metrics().answered, (std::array<std::uint64_t, 5>{0, 1, 0, 0, 0}));
  EXPECT_EQ(second.metrics().nvrtc.total(), 0u);
  const std::string text = prometheus_text(second);
  for (const char* line :
       {"tilejit_requests_total{tier=\"disk\"} 1\n", "tilejit_sealed 0\n",
        "tilejit_step_seconds_bucket{step=\"lookup\",le=\"+Inf\"} 1\n",
        "tilejit_step_seconds_count{step=\"nvrtc\"} 0\n", "tilejit_service_queued 0\n",
        "tilejit_compile_seconds_bucket{le=\"0.001\"} 0\n",
        "tilejit_cache_hits_total{tier=\"disk\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(Serve, TellsOfSlowCompiles) {
  Options settings = options();
  settings.slow_compile = std::chrono::milliseconds(1);
  std::vector<SlowCompile> told;
  settings.on_slow_compile = [&](const SlowCompile& slow) { told.push_back(slow); };
  ::testing::internal::CaptureStderr();
  {
    Compiler compiler(settings);
    (void)compiler.compile(scale_op("64:1"), kTarget);
    (void)compiler.compile(scale_op("64:1"), kTarget);
    EXPECT_EQ(compiler.metrics().slow, 1u);
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("longer than the limit of 1 ms"));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0].kernel, HasSubstr("scale"));
  EXPECT_GT(told[0].milliseconds, 1);
}

TEST_F(Serve, CompilesDuringCaptureUnlessForbidden) {
  fake_.capturing = reinterpret_cast<CUstream>(0x77);
  {
    Runtime rt = runtime(options());
    (void)rt.compile(scale_op("64:1"), nullptr);
    (void)rt.compile(scale_op("64:1"), nullptr);
    EXPECT_EQ(rt.compiler().metrics().compiled_in_capture, 1u);
    EXPECT_EQ(fake_.count("cuThreadExchangeStreamCaptureMode"), 2);  // there and back, for one load
    EXPECT_EQ(fake_.thread_mode, CU_STREAM_CAPTURE_MODE_GLOBAL);     // as it was
  }
  Options settings = options();
  settings.compile_in_capture = false;
  Runtime rt = runtime(settings);
  EXPECT_EQ(rt.compile(scale_op("64:1"), nullptr).artifact().tier, CacheTier::disk);
  expect_error(ErrorCode::missing, "TILEJIT_COMPILE_IN_CAPTURE=0",
               [&] { (void)rt.compile(scale_op("128:1"), nullptr); });
  fake_.capturing = nullptr;
  EXPECT_EQ(rt.compile(scale_op("128:1"), nullptr).artifact().tier, CacheTier::compiled);
  EXPECT_EQ(rt.compiler().metrics().compiled_in_capture, 0u);
}

TEST_F(Serve, TakesTheLegacyStreamForCapturedWhileOneIs) {
  fake_.fail_on["cuStreamIsCapturing"] = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  Options settings = options();
  settings.compile_in_capture = false;
  Runtime rt = runtime(settings);
  EXPECT_THROW((void)rt.compile(scale_op("64:1"), nullptr), MissError);
  fake_.fail_on["cuStreamIsCapturing"] = CUDA_ERROR_INVALID_HANDLE;
  expect_error(ErrorCode::driver_call, "", [&] { (void)rt.compile(scale_op("64:1"), nullptr); });
}

TEST_F(Serve, LocatesWithoutReading) {
  Compiler compiler(options());
  const Location before = compiler.locate(scale_op("64:1"), kTarget);
  EXPECT_FALSE(before.tier);
  const Artifact made = compiler.compile(scale_op("64:1"), kTarget);
  EXPECT_EQ(before.key, made.key);
  EXPECT_EQ(compiler.locate(scale_op("64:1"), kTarget).tier, CacheTier::memory);
  Options settings = options();
  settings.nvrtc_path = folder_ / "nowhere";
  const Compiler other(settings);
  EXPECT_EQ(other.locate(scale_op("64:1"), kTarget).tier, CacheTier::disk);
  EXPECT_EQ(other.locate(scale_op("64:1"), kTarget).key, made.key);
  EXPECT_FALSE(other.locate(scale_op("128:1"), kTarget).tier);
}

}  // namespace
}  // namespace tilejit
