#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "plan/plans.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {
namespace {

namespace fs = std::filesystem;
using plan::kHopper;
using ::testing::HasSubstr;

constexpr Target kAmpere = {.major = 8, .minor = 0, .feature = '\0'};

TunedEntry entry(const std::string& operation_class, const std::string& device,
                 const Tuning& tuning, const Target& target = kHopper) {
  return {.operation_class = operation_class,
          .target = target,
          .device = device,
          .tuning = tuning,
          .milliseconds = 0.25,
          .default_milliseconds = 0.5,
          .name = "add"};
}

const Tuning kEverything = {.threads = 256,
                            .vector = 4,
                            .unroll = 2,
                            .tile = {{64, 128}},
                            .row_threads = 32,
                            .cluster = 2,
                            .splits = 3,
                            .register_vectors = 0,
                            .atomics = false};

TEST(TuningFiles, AreReadAsTheyWereWritten) {
  TuningFile file;
  file.add(entry("map a", "H100", kEverything));
  file.add(entry("map a", "H100", {.threads = 512}, kAmpere));
  file.add(entry("rows \"b\"\n", "a device \xc3\xa4", {}));
  const TuningFile again = TuningFile::parse(file.to_string(), "text");
  EXPECT_EQ(again, file);
  EXPECT_EQ(again.entries().size(), 3U);
  EXPECT_EQ(again.to_string(), file.to_string());
}

TEST(TuningFiles, KeepTheLastOfOneKind) {
  TuningFile file, shipped;
  file.add(entry("map a", "H100", {.threads = 256}));
  file.add(entry("map a", "H100", {.threads = 512}));
  EXPECT_EQ(file.entries().size(), 1U);
  shipped.add(entry("map a", "H100", {.threads = 128}));
  shipped.add(entry("map b", "H100", {.threads = 64}));
  file.merge(shipped);
  EXPECT_EQ(file.entries().size(), 2U);
  EXPECT_EQ(file.find("map a", kHopper, "H100")->tuning.threads, 128);
  // Concatenating the texts gives the same result: the later line counts.
  EXPECT_EQ(TuningFile::parse(file.to_string() + shipped.to_string(), "text"), file);
}

TEST(TuningFiles, FindTheDeviceElseOneOfItsTarget) {
  TuningFile file;
  EXPECT_EQ(file.find("map a", kHopper, "H100"), nullptr);
  file.add(entry("map a", "H200", {.threads = 512}));
  file.add(entry("map a", "H100", {.threads = 256}));
  EXPECT_EQ(file.find("map a", kHopper, "H200")->tuning.threads, 512);
  EXPECT_EQ(file.find("map a", kHopper, "H800")->tuning.threads, 256) << "the first by name";
  EXPECT_EQ(file.find("map a", kHopper, "")->tuning.threads, 256);
  EXPECT_EQ(file.find("map a", kAmpere, "H100"), nullptr);
  EXPECT_EQ(file.find("map", kHopper, "H100"), nullptr);
  EXPECT_EQ(file.find("map aa", kHopper, "H100"), nullptr);
}

TEST(TuningFiles, RefuseWhatIsNoEntry) {
  TuningFile file;
  file.add(entry("map a", "H100", kEverything));
  const std::string good = file.to_string();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    line.replace(line.find(from), from.size(), to);
    return line;
  };
  const std::pair<const char*, std::string> cases[] = {
      {"no JSON", "threads = 5\n"},
      {"cut off", good.substr(0, good.size() / 2)},
      {"another document", "{\"kernels\": []}\n"},
      {"a list", "[1, 2]\n"},
      {"another version", changed("\"tilejit_tuning\":1", "\"tilejit_tuning\":2")},
      {"unknown target", changed("sm_90a", "sm_9")},
      {"knob out of range", changed("\"threads\":256", "\"threads\":100")},
      {"unknown knob", changed("\"threads\"", "\"thread\"")},
      {"knob of another type", changed("\"threads\":256", "\"threads\":\"256\"")},
      {"time of another type", changed("\"milliseconds\":0.25", "\"milliseconds\":null")},
  };
  for (const auto& [what, text] : cases) {
    SCOPED_TRACE(what);
    try {
      (void)TuningFile::parse(good + text, "shipped.jsonl");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr("line 2 of shipped.jsonl"));
    }
  }
}

TEST(TuningFiles, ArePublishedAsAWhole) {
  std::string folder = (fs::temp_directory_path() / "tilejit_tuning_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const fs::path path = fs::path(folder) / "below" / "tuning.jsonl";
  EXPECT_TRUE(TuningFile::load(path).empty());
  TuningFile file;
  file.add(entry("map a", "H100", {.threads = 256}));
  file.publish(path);
  EXPECT_EQ(TuningFile::load(path), file);
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1) << "no temporary";
  EXPECT_THROW((void)TuningFile::load(path.parent_path()), Error);
  std::ofstream(fs::path(folder) / "file") << "not a folder";
  EXPECT_THROW(file.publish(fs::path(folder) / "file" / "tuning.jsonl"), Error);
  // A FIFO blocked its reader; a file owned by others was trusted.
  const fs::path fifo = fs::path(folder) / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THROW((void)TuningFile::load(fifo), Error);
  fs::permissions(path.parent_path(), fs::perms::all);
  EXPECT_THROW((void)TuningFile::load(path), Error);
  EXPECT_EQ(TuningFile::load(path, cache::Trust::anyone), file);
  fs::remove_all(folder);
}

std::string class_of(const std::string& x, const std::string& y, const std::string& formula,
                     DType dtype = f16) {
  return operation_class(test::make_op(dtype, {{"x", x}, {"y", y}}, formula), kHopper);
}

TEST(OperationClasses, AreSharedBySimilarOperations) {
  const std::string base = class_of("(1024,1000):(1000,1)", "(1024,1000):(1000,1)", "y = x * 2.0");
  EXPECT_EQ(base, class_of("(1024,1024):(1024,1)", "(1024,1024):(1024,1)", "y = x * 3.0"));
  EXPECT_NE(base, class_of("(1024,1032):(1032,1)", "(1024,1032):(1032,1)", "y = x * 2.0"))
      << "beyond a power of two";
  EXPECT_NE(base, class_of("(1024,1000):(1000,1)", "(1024,1000):(1000,1)", "y = x + 2.0"));
  EXPECT_NE(base, class_of("(1024,1000):(1000,1)", "(1024,1000):(1000,1)", "y = x * 2.0", bf16));
  EXPECT_NE(base, class_of("(1024,1000):(1,1024)", "(1024,1000):(1000,1)", "y = x * 2.0"));
  EXPECT_NE(class_of("(64,4096):(4096,1)", "(64):(1)", "y = sum(x)"),
            class_of("(4096,64):(64,1)", "(4096):(1)", "y = sum(x)"));
  EXPECT_THAT(class_of("(M,64):(64,1)", "(M):(1)", "y = sum(x)"), HasSubstr("2^6:reduced ?"));
}

TEST(OperationClasses, OfProductsHaveTheirSizes) {
  const auto of = [](const char* a, const char* b) {
    return operation_class(
        test::make_op(bf16, {{"a", a}, {"b", b}, {"d", "(512,256)"}}, "d = a @ b"), kHopper);
  };
  const std::string base = of("(512,1000)", "(1000,256)");
  EXPECT_EQ(base, of("(512,1024)", "(1024,256)"));
  EXPECT_NE(base, of("(512,1032)", "(1032,256)")) << "longer sums";
  EXPECT_NE(base, of("(512,1000)", "(1000,256):(1,1000)")) << "another order";
  EXPECT_NE(base, of("(512,1000):(1001,1)", "(1000,256)")) << "unaligned rows";
  EXPECT_THAT(base, HasSubstr("matmul_wgmma"));
}

TEST(OperationClasses, DoNotDependOnPinnedKnobs) {
  Fused op = test::make_op(f16, {{"x", "(4096):(1)"}, {"y", "(4096):(1)"}}, "y = x");
  const std::string base = operation_class(op, kHopper);
  op.tuning = {.threads = 64, .vector = 1};
  EXPECT_EQ(operation_class(op, kHopper), base);
}

}  // namespace
}  // namespace tilejit
