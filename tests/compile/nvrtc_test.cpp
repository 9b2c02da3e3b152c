#include "compile/nvrtc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"

namespace tilejit::compile {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kScale = R"(
extern "C" __global__ void scale(float* x, float factor) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}
)";

class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
    nvrtc_ = std::make_unique<Nvrtc>();
  }

  [[nodiscard]] static Request scale_for(const std::string& target) {
    return {.source = {"scale.cu", kScale, {}}, .target = target, .options = {}, .want_ptx = false};
  }

  std::unique_ptr<Nvrtc> nvrtc_;
};

TEST_F(NvrtcTest, TellsWhatItIs) {
  EXPECT_EQ(nvrtc_->id().build, find_nvrtc()->build);
  EXPECT_TRUE(std::filesystem::exists(nvrtc_->id().path));
  EXPECT_THAT(nvrtc_->version(), ::testing::MatchesRegex("1[23]\\.[0-9]+"));
  const std::vector<int> archs = nvrtc_->supported_architectures();
  for (const int arch : {75, 80, 90, 100, 120}) EXPECT_THAT(archs, Contains(arch));
  EXPECT_GE(archs.front(), 75);
}

TEST_F(NvrtcTest, CompilesForEveryTarget) {
  for (const char* target : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"}) {
    SCOPED_TRACE(target);
    const Compiled compiled = nvrtc_->compile(scale_for(target));
    EXPECT_THAT(compiled.cubin, StartsWith("\x7f"
                                           "ELF"));
    EXPECT_THAT(compiled.cubin, HasSubstr("scale"));
    EXPECT_THAT(compiled.ptx, IsEmpty());
    EXPECT_GT(compiled.milliseconds, 0);
  }
}

TEST_F(NvrtcTest, MakesTheSameBytesAgain) {
  const Compiled first = nvrtc_->compile(scale_for("sm_90a"));
  EXPECT_EQ(nvrtc_->compile(scale_for("sm_90a")).cubin, first.cubin);
  const Nvrtc other;
  EXPECT_EQ(other.compile(scale_for("sm_90a")).cubin, first.cubin);
}

TEST_F(NvrtcTest, MakesTheSameBytesInManyThreads) {
  const std::string want = nvrtc_->compile(scale_for("sm_90a")).cubin;
  std::vector<std::string> cubins(4);
  std::vector<std::jthread> threads;
  for (std::string& cubin : cubins) {
    threads.emplace_back([&] { cubin = nvrtc_->compile(scale_for("sm_90a")).cubin; });
  }
  threads.clear();
  for (const std::string& cubin : cubins) EXPECT_EQ(cubin, want);
}

TEST_F(NvrtcTest, ReadsHeadersFromMemory) {
  Request request = scale_for("sm_80");
  request.source.text = "#include \"plan.cuh\"\n#include \"tile/ops.cuh\"\n" + std::string(kScale);
  request.source.headers = {{"plan.cuh", "constexpr int kThreads = 128;\n"},
                            {"tile/ops.cuh", "static_assert(kThreads == 128);\n"}};
  EXPECT_THAT(nvrtc_->compile(request).cubin, Not(IsEmpty()));
}

TEST_F(NvrtcTest, ReadsNoHeaderFromTheWorkingDirectory) {
  const TempFolder folder;
  std::ofstream(folder.path() / "stray.cuh") << "\n";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Request request = scale_for("sm_80");
  request.source.text = "#include \"stray.cuh\"\n";
  const Error error = thrown_by([&] { (void)nvrtc_->compile(request); });
  std::filesystem::current_path(before);
  EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  EXPECT_THAT(error.log(), HasSubstr("stray.cuh"));
}

TEST_F(NvrtcTest, GivesPtxAndResourcesWhenAsked) {
  Request request = scale_for("sm_90a");
  request.want_ptx = true;
  request.options = {"--ptxas-options=-v"};
  const Compiled compiled = nvrtc_->compile(request);
  EXPECT_THAT(compiled.ptx, HasSubstr(".target sm_90a"));
  EXPECT_THAT(compiled.ptx, HasSubstr(".entry scale"));
  EXPECT_EQ(compiled.ptx.find('\0'), std::string::npos);
  EXPECT_THAT(compiled.log, HasSubstr("registers"));
  EXPECT_EQ(compiled.log.find('\0'), std::string::npos);
  // Compiled again: a cache inside NVRTC would answer without a log.
  EXPECT_THAT(nvrtc_->compile(request).log, HasSubstr("registers"));
}

TEST_F(NvrtcTest, CompileErrorHasTheLineAndTheLog) {
  Request request = scale_for("sm_90a");
  request.source.text =
      "\n\nextern \"C\" __global__ void k() { int a = missing; }\nint b = gone;\n";
  const Error error = thrown_by([&] { (void)nvrtc_->compile(request); });
  EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  EXPECT_EQ(error.where(), "scale.cu");
  EXPECT_THAT(error.what(), HasSubstr("scale.cu(3): error: identifier \"missing\" is undefined"));
  EXPECT_THAT(error.log(), HasSubstr("scale.cu(4): error"));
}

TEST_F(NvrtcTest, RefusesAnOptionItDoesNotKnow) {
  Request request = scale_for("sm_90a");
  request.options = {"--bogus"};
  const Error error = thrown_by([&] { (void)nvrtc_->compile(request); });
  EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  EXPECT_THAT(error.what(), HasSubstr("--bogus"));
}

TEST_F(NvrtcTest, RefusesUnknownTargetsAndListsTheKnown) {
  for (const std::string& target :
       {std::string("sm_99"), std::string("sm_80a"), std::string("sm_90f"), std::string("sm_90A"),
        std::string("compute_90"), std::string("sm_"), std::string(), std::string(100000, 'x'),
        std::string("sm_90 --bogus")}) {
    SCOPED_TRACE(target.substr(0, 40));
    const Error error = thrown_by([&] { (void)nvrtc_->compile(scale_for(target)); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("sm_75, sm_80, "));
    EXPECT_THAT(error.what(), HasSubstr("sm_90, sm_90a, "));
    EXPECT_LT(std::string(error.what()).size(), 1000u);
  }
}

// NVRTC itself accepts the targets in the list and refuses those that are not.
TEST_F(NvrtcTest, ListsExactlyTheTargetsThatCompile) {
  const std::string known = thrown_by([&] { (void)nvrtc_->compile(scale_for("")); }).what();
  for (const int arch : nvrtc_->supported_architectures()) {
    for (const char* feature : {"", "a", "f"}) {
      const std::string target = "sm_" + std::to_string(arch) + feature;
      SCOPED_TRACE(target);
      Request request = scale_for("sm_80");
      request.source.text = "__device__ int x;\n";
      request.options = {"--gpu-architecture=" + target};  // the later one counts
      const bool listed = (known + ",").find(" " + target + ",") != std::string::npos;
      if (listed) {
        EXPECT_NO_THROW((void)nvrtc_->compile(request));
      } else {
        EXPECT_THROW((void)nvrtc_->compile(request), Error);
      }
    }
  }
}

}  // namespace
}  // namespace tilejit::compile
