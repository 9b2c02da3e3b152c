// How a Compiler uses a tuning file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compile/nvrtc.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const Target kTarget{.major = 8, .minor = 0, .feature = 0};

Fused add_op(const std::string& layout = "(64,32):(32,1)") {
  return {.name = "add",
          .tensors = {{.name = "a", .dtype = f16, .layout = layout},
                      {.name = "b", .dtype = f16, .layout = layout},
                      {.name = "c", .dtype = f16, .layout = layout}},
          .formula = "c = a + b"};
}

class TunedCompiler : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tilejit_tuned_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    if (!compile::find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path path() const { return folder_ / "tuning.jsonl"; }
  [[nodiscard]] Options options() const {
    return {.cache_folder = folder_ / "cache", .tuning_file = path()};
  }
  void tune(const Tuning& tuning) const {
    TuningFile file;
    file.add({.operation_class = operation_class(add_op(), kTarget),
              .target = kTarget,
              .device = "some A100",
              .tuning = tuning});
    file.publish(path());
  }
  static int threads_of(const Artifact& artifact) {
    return nlohmann::json::parse(*artifact.metadata)["plan"]["threads"];
  }

  fs::path folder_;
};

TEST_F(TunedCompiler, TakesTheKnobsIntoPlanAndKey) {
  const Artifact planned = Compiler(options()).compile(add_op(), kTarget);
  EXPECT_EQ(threads_of(planned), 256);
  tune({.threads = 64});
  Compiler compiler(options());
  const Artifact tuned = compiler.compile(add_op(), kTarget);
  EXPECT_EQ(threads_of(tuned), 64);
  EXPECT_NE(tuned.key, planned.key);
  EXPECT_EQ(compiler.tuned(add_op(), kTarget).tuning(), (Tuning{.threads = 64}));
  Fused pinned = add_op();
  pinned.tuning.threads = 64;
  EXPECT_EQ(compiler.compile(pinned, kTarget).key, tuned.key) << "the same plan, the same key";
}

TEST_F(TunedCompiler, TunesSimilarOperationsOnly) {
  tune({.threads = 64});
  Compiler compiler(options());
  EXPECT_EQ(threads_of(compiler.compile(add_op("(48,32):(32,1)"), kTarget)), 64);
  EXPECT_EQ(threads_of(compiler.compile(add_op("(65,32):(32,1)"), kTarget)), 256);
  EXPECT_EQ(threads_of(compiler.compile(add_op(), parse_target("sm_86"))), 256);
}

TEST_F(TunedCompiler, LeavesPinnedOperationsAlone) {
  tune({.threads = 64});
  Fused op = add_op();
  op.tuning.unroll = 2;
  EXPECT_EQ(threads_of(Compiler(options()).compile(op, kTarget)), 256);
}

TEST_F(TunedCompiler, FallsBackWhereKnobsCannotBeHonoured) {
  tune({.threads = 64, .tile = {{64, 64}}});  // nothing is crossed
  Compiler compiler(options());
  EXPECT_EQ(threads_of(compiler.compile(add_op(), kTarget)), 256);
  EXPECT_EQ(compiler.tuned(add_op(), kTarget).tuning(), Tuning{});
}

TEST_F(TunedCompiler, WarnsOnceOfADamagedFileAndGoesOn) {
  std::ofstream(path()) << "{\"threads\": 64}\n";
  ::testing::internal::CaptureStderr();
  {
    Compiler compiler(options());
    EXPECT_EQ(threads_of(compiler.compile(add_op(), kTarget)), 256);
    EXPECT_EQ(threads_of(compiler.compile(add_op("(8,32):(32,1)"), kTarget)), 256);
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("line 1 of " + path().string()));
  EXPECT_EQ(log.find('\n'), log.size() - 1) << log;  // one warning
}

// Compiling ahead for several devices of one target gave only the kernels of the first one.
TEST_F(TunedCompiler, CompilesAndLocatesForADevice) {
  TuningFile file;
  for (const auto& [device, threads] : {std::pair("a", 64), std::pair("b", 128)}) {
    file.add({.operation_class = operation_class(add_op(), kTarget),
              .target = kTarget,
              .device = device,
              .tuning = {.threads = threads}});
  }
  file.publish(path());
  Compiler compiler(options());
  EXPECT_THAT(compiler.tuned_devices(kTarget), ::testing::ElementsAre("a", "b"));
  EXPECT_TRUE(compiler.tuned_devices(parse_target("sm_86")).empty());
  const Artifact first = compiler.compile(add_op(), kTarget);
  const Artifact second = compiler.compile(add_op(), kTarget, "b");
  EXPECT_EQ(threads_of(first), 64);
  EXPECT_EQ(threads_of(second), 128);
  EXPECT_EQ(compiler.compile(add_op(), kTarget, "of no entry").key, first.key);
  EXPECT_EQ(compiler.explain(add_op(), kTarget, "b").key, second.key);
  EXPECT_EQ(compiler.locate(add_op(), kTarget, "b").key, second.key);
  EXPECT_TRUE(compiler.locate(add_op(), kTarget, "b").tier);
  EXPECT_EQ(compiler.compile_async(add_op(), kTarget, {.device = "b"}).get().key, second.key);
  EXPECT_EQ(compiler.compile_async(add_op(), kTarget).get().key, first.key);
}

TEST_F(TunedCompiler, ReadsTheFileOnce) {
  Compiler compiler(options());
  EXPECT_EQ(threads_of(compiler.compile(add_op(), kTarget)), 256);
  tune({.threads = 64});
  EXPECT_EQ(threads_of(compiler.compile(add_op(), kTarget)), 256);
  EXPECT_EQ(threads_of(Compiler(options()).compile(add_op(), kTarget)), 64);
}

}  // namespace
}  // namespace tilejit
