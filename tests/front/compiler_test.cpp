#include "tilejit/compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "compile/nvrtc.hpp"
#include "fake/expect_error.hpp"
#include "fake/fake_driver.hpp"
#include "launch/internals.hpp"
#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const Target kAmpere{.major = 8, .minor = 0, .feature = 0};

Fused add_op(const std::string& name = "add") {
  return {.name = name,
          .tensors = {{.name = "a", .dtype = f16, .layout = "(64,32):(32,1)"},
                      {.name = "b", .dtype = f16, .layout = "(64,32):(32,1)"},
                      {.name = "c", .dtype = f16, .layout = "(64,32):(32,1)"}},
          .formula = "c = a + b"};
}

/// A separate folder for each test, and NVRTC to compile with.
class CompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tilejit_compiler_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    if (!compile::find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] Options options() const { return {.cache_folder = folder_ / "cache"}; }
  [[nodiscard]] Options without_nvrtc() const {
    fs::create_directories(folder_ / "empty");
    return {.cache_folder = folder_ / "cache", .nvrtc_path = folder_ / "empty"};
  }

  fs::path folder_;
};

TEST_F(CompilerTest, AnswersFromCompilerMemoryAndDiskWithTheSameBytes) {
  Compiler first(options());
  const Artifact made = first.compile(add_op(), kAmpere);
  EXPECT_EQ(made.tier, CacheTier::compiled);
  EXPECT_EQ(made.key.size(), 64U);
  EXPECT_EQ(made.cubin->substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_GT(made.times.nvrtc, 0);
  EXPECT_GT(made.times.render, 0);
  EXPECT_GT(made.times.publish, 0);
  const Artifact again = first.compile(add_op(), kAmpere);
  EXPECT_EQ(again.tier, CacheTier::memory);
  Compiler second(options());
  const Artifact found = second.compile(add_op(), kAmpere);
  EXPECT_EQ(found.tier, CacheTier::disk);
  for (const Artifact& hit : {again, found}) {
    EXPECT_EQ(hit.key, made.key);
    EXPECT_EQ(hit.kernel_name, made.kernel_name);
    EXPECT_EQ(*hit.cubin, *made.cubin);
    EXPECT_EQ(*hit.metadata, *made.metadata);
    EXPECT_EQ(hit.times.render + hit.times.nvrtc + hit.times.publish, 0);
    EXPECT_GT(hit.times.lookup, 0);
  }
}

TEST_F(CompilerTest, SeparatesTargetsAndOperations) {
  Compiler compiler(options());
  std::set<std::string> keys;
  for (const Fused& op : {add_op(), add_op("plus")}) {
    for (const char* target : {"sm_80", "sm_90a"}) {
      keys.insert(compiler.compile(op, parse_target(target)).key);
    }
  }
  EXPECT_EQ(keys.size(), 4U);
}

TEST_F(CompilerTest, DescribesWhatItMade) {
  Compiler compiler(options());
  const Artifact artifact = compiler.compile(add_op(), kAmpere);
  const auto metadata = nlohmann::json::parse(*artifact.metadata);
  EXPECT_EQ(metadata["kernel"], artifact.kernel_name);
  EXPECT_EQ(metadata["target"], "sm_80");
  EXPECT_EQ(metadata["compiler"], compiler.nvrtc().build);
  EXPECT_EQ(metadata["compiler_version"], compiler.nvrtc().version);
  EXPECT_GT(metadata["registers"].get<int>(), 0);
}

TEST_F(CompilerTest, UsesAWarmFolderWithoutACompiler) {
  const Artifact made = Compiler(options()).compile(add_op(), kAmpere);
  Compiler compiler(without_nvrtc());
  const Artifact found = compiler.compile(add_op(), kAmpere);
  EXPECT_EQ(found.tier, CacheTier::disk);
  EXPECT_EQ(found.key, made.key);
  EXPECT_EQ(compiler.compile(add_op(), kAmpere).tier, CacheTier::memory);
  expect_error(ErrorCode::no_compiler, "TILEJIT_NVRTC",
               [&] { (void)compiler.compile(add_op("other"), kAmpere); });
}

TEST_F(CompilerTest, ExplainsTheKey) {
  Compiler compiler(options());
  const KeyExplanation before = compiler.explain(add_op(), kAmpere);
  EXPECT_EQ(compiler.cache().counters().made, 0U);
  const Artifact made = compiler.compile(add_op(), kAmpere);
  EXPECT_EQ(before.key, made.key);
  const auto fields = nlohmann::json::parse(before.fields);
  const auto metadata = nlohmann::json::parse(*made.metadata);
  for (const auto& [name, value] : fields.items()) EXPECT_EQ(metadata.at(name), value) << name;
  EXPECT_EQ(compiler.cache().counters().made, 1U);
  // Without a compiler: uses the key of the compiler that filled the folder.
  EXPECT_EQ(Compiler(without_nvrtc()).explain(add_op(), kAmpere).key, made.key);
}

TEST_F(CompilerTest, KeepsSourcePtxAndLogWhenAsked) {
  Options settings = options();
  settings.cache_keep = {.source = true, .ptx = true, .log = true};
  Compiler compiler(settings);
  const Artifact made = compiler.compile(add_op(), kAmpere);
  const auto text = [&](const char* suffix) {
    std::ifstream file(compiler.cache().path_of(made.key).replace_extension(suffix));
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(text("cu"), render_source(add_op(), kAmpere));
  EXPECT_THAT(text("ptx"), HasSubstr(".target sm_80"));
  EXPECT_THAT(text("log"), HasSubstr("registers"));
}

// An entry says neither where it was made nor by whom: it may be given away.
TEST_F(CompilerTest, NamesNoPlaceInAnEntry) {
  Compiler compiler(options());
  const Artifact made = compiler.compile(add_op(), kAmpere);
  for (const std::string& text : {*made.cubin, *made.metadata}) {
    EXPECT_EQ(text.find(folder_.string()), std::string::npos);
    EXPECT_EQ(text.find(fs::current_path().string()), std::string::npos);
  }
}

TEST_F(CompilerTest, UsesABundleWithoutACompilerOrAFolder) {
  Compiler first(options());
  const Artifact made = first.compile(add_op(), kAmpere);
  const cache::Folder folder(folder_ / "cache");
  {
    cache::BundleWriter writer(folder_ / "kernels.tjb");
    writer.add(made.key, *folder.read(made.key));
    for (const std::string& name : folder.markers("compilers")) {
      writer.add_marker("compilers", name);
    }
    writer.finish();
  }
  Options bundled = without_nvrtc();
  bundled.cache_folder.reset();
  bundled.cache_path = {folder_ / "kernels.tjb"};
  const Artifact found = Compiler(bundled).compile(add_op(), kAmpere);
  EXPECT_EQ(found.tier, CacheTier::read_only);
  EXPECT_EQ(*found.cubin, *made.cubin);
}

TEST_F(CompilerTest, RefusesARemoteThatCannotBe) {
  Options settings = options();
  settings.cache_remote.url = "ftp://example.org";
  expect_error(ErrorCode::invalid_argument, "url is not one of", [&] { Compiler{settings}; });
}

TEST_F(CompilerTest, CompilesNothingThatARemoteMustHave) {
  Options settings = options();
  settings.cache_remote.url = "http://127.0.0.1:1/";
  settings.cache_remote.mode = cache::RemoteMode::must_hit;
  Compiler compiler(settings);
  expect_error(ErrorCode::no_compiler, "must have every kernel",
               [&] { (void)compiler.compile(add_op(), kAmpere); });
}

TEST_F(CompilerTest, RefusesAKeyOfBundlesThatIsNone) {
  Options settings = options();
  settings.cache_bundle_key = folder_ / "missing.pem";
  expect_error(ErrorCode::invalid_argument, "cannot be read", [&] { Compiler{settings}; });
  std::ofstream(folder_ / "key.pem") << "no key";
  settings.cache_bundle_key = folder_ / "key.pem";
  expect_error(ErrorCode::invalid_argument, "no Ed25519 public key", [&] { Compiler{settings}; });
}

TEST_F(CompilerTest, SaysWhenThereIsNoCompiler) {
  Compiler compiler(without_nvrtc());
  expect_error(ErrorCode::no_compiler, "pip install",
               [&] { (void)compiler.compile(add_op(), kAmpere); });
  expect_error(ErrorCode::no_compiler, "pip install", [&] { (void)compiler.nvrtc(); });
  expect_error(ErrorCode::no_compiler, "pip install",
               [&] { (void)compiler.listing(add_op(), kAmpere); });
}

TEST_F(CompilerTest, ListsTheTargetsItKnows) {
  Compiler compiler(options());
  expect_error(ErrorCode::unsupported, "sm_90a", [&] {
    (void)compiler.compile(add_op(), Target{.major = 77, .minor = 7, .feature = 0});
  });
}

TEST_F(CompilerTest, CompilesOnceForConcurrentRequests) {
  Compiler compiler(options());
  std::vector<std::future<Artifact>> requests(8);
  for (auto& request : requests) {
    request = std::async(std::launch::async, [&] { return compiler.compile(add_op(), kAmpere); });
  }
  std::set<const char*> cubins;
  int compiled = 0;
  for (auto& request : requests) {
    const Artifact artifact = request.get();
    compiled += artifact.tier == CacheTier::compiled ? 1 : 0;
    cubins.insert(artifact.cubin->data());
  }
  EXPECT_EQ(cubins.size(), 1U);  // shared, not copied
  EXPECT_EQ(compiled, 1);
}

TEST_F(CompilerTest, GoesOnInMemoryWhereTheFolderCannotBeUsed) {
  std::ofstream(folder_ / "cache") << "a file, not a folder";
  ::testing::internal::CaptureStderr();
  {
    Compiler compiler(options());
    EXPECT_EQ(compiler.compile(add_op(), kAmpere).tier, CacheTier::compiled);
    EXPECT_EQ(compiler.compile(add_op(), kAmpere).tier, CacheTier::memory);
    EXPECT_EQ(compiler.compile(add_op("plus"), kAmpere).tier, CacheTier::compiled);
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("tilejit"));
  EXPECT_EQ(log.find('\n'), log.size() - 1) << log;  // one warning
}

TEST_F(CompilerTest, WorksWithoutAFolder) {
  Compiler compiler({.cache_folder = std::nullopt});
  EXPECT_EQ(compiler.compile(add_op(), kAmpere).tier, CacheTier::compiled);
  EXPECT_EQ(compiler.compile(add_op(), kAmpere).tier, CacheTier::memory);
}

TEST_F(CompilerTest, ListsPtxAndResources) {
  Compiler compiler(options());
  const Listing listing = compiler.listing(add_op(), kAmpere);
  EXPECT_EQ(listing.cubin, *compiler.compile(add_op(), kAmpere).cubin);
  EXPECT_THAT(listing.ptx, HasSubstr(".target sm_80"));
  EXPECT_THAT(listing.log, HasSubstr("registers"));
}

TEST_F(CompilerTest, RendersWithoutCompiling) {
  EXPECT_EQ(nlohmann::json::parse(render_plan(add_op(), kAmpere))["target"], "sm_80");
  for (const std::string& text :
       {render_source(add_op(), kAmpere), render_header(add_op(), kAmpere)}) {
    EXPECT_THAT(text, HasSubstr("#define KERNEL_NAME tilejit_add_f16"));
  }
  EXPECT_THAT(render_source(add_op(), kAmpere), HasSubstr("__global__"));
}

TEST_F(CompilerTest, RuntimeLoadsAKernelOnce) {
  FakeDriver fake;
  fake.capability_major = 8;
  Runtime runtime = launch::Internals::make_runtime(options(), fake.table);
  const Kernel kernel = runtime.compile(add_op());
  EXPECT_EQ(kernel.artifact().tier, CacheTier::compiled);
  EXPECT_EQ(to_string(kernel.artifact().target), "sm_80");
  EXPECT_EQ(kernel.op(), add_op());
  EXPECT_EQ(fake.entries.at(0), kernel.artifact().kernel_name);
  const Kernel again = runtime.compile(add_op());
  EXPECT_EQ(again.artifact().tier, CacheTier::memory);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 1);
  again.launch(nullptr, {reinterpret_cast<void*>(0x10000), reinterpret_cast<void*>(0x20000),
                         reinterpret_cast<void*>(0x30000)});
  EXPECT_EQ(fake.launches.size(), 1U);
}

TEST(CacheTier, HasNames) {
  EXPECT_EQ(to_string(CacheTier::memory), "memory");
  EXPECT_EQ(to_string(CacheTier::disk), "disk");
  EXPECT_EQ(to_string(CacheTier::read_only), "read-only");
  EXPECT_EQ(to_string(CacheTier::remote), "remote");
  EXPECT_EQ(to_string(CacheTier::compiled), "compiled");
}

}  // namespace
}  // namespace tilejit
