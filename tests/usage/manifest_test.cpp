// Manifests: what is written, by several processes and by processes that die, and what is read
// back.
#include "tilejit/manifest.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tilejit/error.hpp"
#include "usage/recorder.hpp"

namespace tilejit::usage {
namespace {

namespace fs = std::filesystem;

const Target kAmpere{.major = 8, .minor = 0, .feature = 0};

Fused copy_op(int elements) {
  const Layout layout(std::to_string(elements) + ":1");
  return {.name = "copy", .tensors = {{"x", f16, layout}, {"y", f16, layout}}, .formula = "y = x"};
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ManifestFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tilejit_manifest_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] fs::path path() const { return folder_ / "deep" / "used.jsonl"; }
  [[nodiscard]] Recorder::Warn warn() {
    return [this](const std::string& text) { warnings_.push_back(text); };
  }

  fs::path folder_;
  std::vector<std::string> warnings_;
};

TEST_F(ManifestFile, ReadsWhatWasRecorded) {
  {
    Recorder recorder(path(), warn());
    const std::string a = recorder.first_use(copy_op(1), kAmpere);
    const std::string b = recorder.first_use(copy_op(1), Target{});
    (void)recorder.first_use(copy_op(2), kAmpere);
    recorder.finish({{a, 10}, {b, 1}});
  }
  const Manifest manifest = load_manifest(path());
  EXPECT_TRUE(manifest.faults.empty());
  ASSERT_EQ(manifest.entries.size(), 3u);
  EXPECT_EQ(manifest.entries[0].op, copy_op(1));
  EXPECT_EQ(manifest.entries[0].target, kAmpere);
  EXPECT_EQ(manifest.entries[0].uses, 10u);
  EXPECT_EQ(manifest.entries[1].target, Target{});
  EXPECT_EQ(manifest.entries[2].uses, 1u);  // its counts were not written
  EXPECT_TRUE(is_manifest(text_of(path())));
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(ManifestFile, NamesAnEntryOnceWhoeverRecordsIt) {
  for (int run = 0; run < 3; ++run) {
    Recorder recorder(path(), warn());
    recorder.finish({{recorder.first_use(copy_op(1), kAmpere), 5}});
  }
  const std::string text = text_of(path());
  EXPECT_EQ(text.find("\"spec\""), text.rfind("\"spec\""));
  ASSERT_EQ(load_manifest(path()).entries.size(), 1u);
  EXPECT_EQ(load_manifest(path()).entries[0].uses, 15u);
}

TEST_F(ManifestFile, StartsBehindATornLine) {
  { (void)Recorder(path(), warn()).first_use(copy_op(1), kAmpere); }
  const std::string line = manifest_line(copy_op(2), kAmpere);
  std::ofstream(path(), std::ios::app) << line.substr(0, line.size() / 2);
  EXPECT_TRUE(load_manifest(path()).faults.empty());  // it may still be being written
  { (void)Recorder(path(), warn()).first_use(copy_op(3), kAmpere); }
  const Manifest manifest = load_manifest(path());
  ASSERT_EQ(manifest.entries.size(), 2u);
  EXPECT_EQ(manifest.entries[1].op, copy_op(3));
  ASSERT_EQ(manifest.faults.size(), 1u);
  EXPECT_EQ(manifest.faults[0].substr(0, 7), "line 2:");
}

TEST_F(ManifestFile, IsWholeWhereverAWriterDied) {
  { (void)Recorder(path(), warn()).first_use(copy_op(1), kAmpere); }
  const std::string whole = text_of(path());
  const std::string line = manifest_line(copy_op(2), kAmpere) + '\n';
  for (std::size_t bytes = 0; bytes < line.size(); ++bytes) {
    const Manifest manifest = parse_manifest(whole + line.substr(0, bytes));
    ASSERT_EQ(manifest.entries.size(), bytes + 1 == line.size() ? 2u : 1u) << bytes;
    ASSERT_TRUE(manifest.faults.empty()) << bytes;
  }
}

TEST_F(ManifestFile, IsSharedByProcesses) {
  constexpr int kProcesses = 8, kEntries = 50;
  fs::create_directories(path().parent_path());
  for (int process = 0; process < kProcesses; ++process) {
    if (::fork() != 0) continue;
    std::unordered_map<std::string, std::uint64_t> uses;
    Recorder recorder(path(), {});
    for (int i = 0; i < kEntries; ++i) {
      uses[recorder.first_use(copy_op(1 + (i * 7 + process) % kEntries), kAmpere)] = 2;
    }
    recorder.finish(uses);
    ::_exit(0);
  }
  for (int process = 0; process < kProcesses; ++process) {
    int status = 0;
    ASSERT_GT(::wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  const Manifest manifest = load_manifest(path());
  EXPECT_EQ(manifest.entries.size(), static_cast<std::size_t>(kEntries));
  EXPECT_TRUE(manifest.faults.empty());
  for (const ManifestEntry& entry : manifest.entries) EXPECT_EQ(entry.uses, 2u * kProcesses);
}

TEST_F(ManifestFile, ThatCannotBeWrittenIsWarnedOfOnce) {
  fs::create_directories(path());  // a folder of that name
  Recorder recorder(path(), warn());
  EXPECT_EQ(recorder.first_use(copy_op(1), kAmpere), "");
  EXPECT_EQ(recorder.first_use(copy_op(2), kAmpere), "");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("is not recorded"), std::string::npos);
  EXPECT_THROW((void)load_manifest(path()), Error);
  EXPECT_THROW((void)load_manifest(folder_ / "missing"), Error);
}

TEST(Manifest, KeepsLinesThatItCannotReadAsFaults) {
  const std::string good = manifest_line(copy_op(1), kAmpere);
  const char* const bad[] = {"no JSON",
                             "[]",
                             "{}",
                             R"({"target": "sm_80"})",
                             R"({"target": "sm_1", "spec": {}})",
                             R"({"target": "sm_80", "spec": {"formula": "y = x"}})",
                             R"({"target": 80, "spec": {}})",
                             R"({"uses": 7, "spec": 1})"};
  for (const char* line : bad) {
    SCOPED_TRACE(line);
    const Manifest manifest = parse_manifest(good + '\n' + line + "\n\n" + good + '\n');
    EXPECT_EQ(manifest.entries.size(), 1u);
    ASSERT_EQ(manifest.faults.size(), 1u);
    EXPECT_EQ(manifest.faults[0].substr(0, 7), "line 2:");
  }
  const Manifest odd = parse_manifest("{\"uses\": {\"x\": -1, \"y\": \"z\"}}\n{\"uses\": 7}\n");
  EXPECT_TRUE(odd.entries.empty());
}

TEST(Manifest, IsToldFromSpecFiles) {
  EXPECT_TRUE(is_manifest(manifest_line(copy_op(1), kAmpere) + "\n"));
  EXPECT_TRUE(is_manifest("\n{\"uses\":{}}\n"));
  EXPECT_FALSE(is_manifest(to_json(copy_op(1))));
  EXPECT_FALSE(is_manifest(R"({"kernels": []})"));
  EXPECT_FALSE(is_manifest(""));
}

}  // namespace
}  // namespace tilejit::usage
