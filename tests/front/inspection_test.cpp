// What profilers and people see of a kernel: its name, its source lines, its machine code.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "compile/disassemble.hpp"
#include "compile/nvrtc.hpp"
#include "fake/hand_plans.hpp"
#include "front/key.hpp"
#include "support/specs.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit {
namespace {

namespace fs = std::filesystem;
using test::make_op;
using ::testing::HasSubstr;

const Target kHopper{.major = 9, .minor = 0, .feature = 'a'};

/// The sections of a cubin by their names.
std::map<std::string, std::string> sections(const std::string& cubin) {
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof header);
  const auto section = [&](unsigned i) {
    Elf64_Shdr found;
    std::memcpy(&found, cubin.data() + header.e_shoff + i * header.e_shentsize, sizeof found);
    return found;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  std::map<std::string, std::string> result;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr found = section(i);
    const std::size_t size = found.sh_type == SHT_NOBITS ? 0 : found.sh_size;
    result[cubin.data() + names.sh_offset + found.sh_name] = cubin.substr(found.sh_offset, size);
  }
  return result;
}

class Inspection : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tilejit_inspection_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    if (!compile::find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] Options options() const { return {.cache_folder = folder_ / "cache"}; }
  static std::string kept(const Compiler& compiler, const Artifact& made, const char* suffix) {
    std::ifstream file(compiler.cache().path_of(made.key).replace_extension(suffix));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(Inspection, KernelsHaveNamesThatAreReadAsTheyAre) {
  Compiler compiler({.cache_folder = std::nullopt});
  const Layout rows = "(64,512):(512,1)", columns = "(64,512):(1,64)", row = "(64,1):(1,0)";
  const std::pair<const char*, Fused> cases[] = {
      {"tilejit_softmax_bf16",
       {.name = "softmax",
        .tensors = {{"x", bf16, rows}, {"y", bf16, rows}},
        .formula = "e = exp(x - max(x)); y = e / sum(e)"}},
      {"tilejit_transpose_f32",
       {.name = "transpose",
        .tensors = {{"x", f32, rows}, {"y", f32, columns}},
        .formula = "y = x"}},
      {"tilejit_cumsum_f32",
       {.name = "cumsum",
        .tensors = {{"x", f32, rows}, {"y", f32, rows}},
        .formula = "y = cumsum(x)"}},
  };
  for (const auto& [name, op] : cases) {
    SCOPED_TRACE(name);
    const Artifact made = compiler.compile(op, kHopper);
    EXPECT_EQ(made.kernel_name, name);
    int kernels = 0;
    for (const auto& [section, bytes] : sections(*made.cubin)) {
      if (!section.starts_with(".text.")) continue;
      EXPECT_THAT(section, testing::StartsWith(std::string(".text.") + name));
      ++kernels;
    }
    EXPECT_GE(kernels, 1);
  }
}

TEST_F(Inspection, LinesAreThoseOfTheSourceThatIsKept) {
  const Fused op =
      make_op(f32, {{"a", "(64,512):(512,1)"}, {"b", "(64,512):(512,1)"}}, "b = a + 1");
  Compiler plain(options());
  Options with_lines = options();
  with_lines.line_info = true;
  with_lines.cache_keep.source = true;
  Compiler lines(with_lines);
  const Artifact without = plain.compile(op, kHopper);
  const Artifact with = lines.compile(op, kHopper);
  EXPECT_EQ(with.tier, CacheTier::compiled);
  EXPECT_NE(with.key, without.key);
  EXPECT_EQ(lines.explain(op, kHopper).key, with.key);
  EXPECT_THAT(*with.metadata, HasSubstr("--generate-line-info"));

  const auto with_sections = sections(*with.cubin), without_sections = sections(*without.cubin);
  EXPECT_FALSE(without_sections.contains(".debug_line"));
  ASSERT_TRUE(with_sections.contains(".debug_line"));
  EXPECT_THAT(with_sections.at(".debug_line"), HasSubstr(with.key + ".cu"));
  EXPECT_EQ(with.cubin->find(folder_.string()), std::string::npos);
  const std::string code = ".text." + with.kernel_name;
  EXPECT_EQ(with_sections.at(code), without_sections.at(code));  // the same instructions
  EXPECT_EQ(kept(lines, with, "cu"), render_source(op, kHopper));
  EXPECT_TRUE(sections(lines.listing(op, kHopper).cubin).contains(".debug_line"));
}

TEST(Key, HasLineInfoAsAnOption) {
  HandPlan hand;
  hand.in("x", "64:1").out("y", "64:1");
  EXPECT_THAT(front::key_text(hand.planned(), "b", front::LineInfo::yes),
              HasSubstr("\"--generate-line-info\"]"));
  EXPECT_EQ(front::key_text(hand.planned(), "b", front::LineInfo::no),
            front::key_text(hand.planned(), "b"));
}

/// Sets PATH until the end of the scope.
class PathScope {
 public:
  explicit PathScope(const std::string& path) {
    const char* value = std::getenv("PATH");
    before_ = value != nullptr ? value : "";
    setenv("PATH", path.c_str(), 1);
  }
  ~PathScope() { setenv("PATH", before_.c_str(), 1); }
  PathScope(const PathScope&) = delete;
  PathScope& operator=(const PathScope&) = delete;

 private:
  std::string before_;
};

TEST_F(Inspection, KeepsWhatADisassemblerSays) {
  std::ofstream(folder_ / "nvdisasm") << "#!/bin/sh\necho SASS of a cubin\n";
  fs::permissions(folder_ / "nvdisasm", fs::perms::owner_all);
  const PathScope scope(folder_.string());
  Options settings = options();
  settings.cache_keep.sass = true;
  Compiler compiler(settings);
  const Artifact made =
      compiler.compile(make_op(f32, {{"a", "64:1"}, {"b", "64:1"}}, "b = a"), kHopper);
  EXPECT_EQ(kept(compiler, made, "sass"), "SASS of a cubin\n");
}

TEST_F(Inspection, WarnsOnceWithoutAWorkingDisassembler) {
  std::ofstream(folder_ / "nvdisasm") << "#!/bin/sh\necho too old; exit 1\n";
  fs::permissions(folder_ / "nvdisasm", fs::perms::owner_all);
  const PathScope scope(folder_.string());
  Options settings = options();
  settings.cache_keep.sass = true;
  ::testing::internal::CaptureStderr();
  {
    Compiler compiler(settings);
    for (const char* formula : {"b = a", "b = a + 1"}) {
      const Fused op = make_op(f32, {{"a", "64:1"}, {"b", "64:1"}}, formula);
      EXPECT_EQ(kept(compiler, compiler.compile(op, kHopper), "sass"), "");
    }
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("SASS is not kept"));
  EXPECT_THAT(log, HasSubstr("too old"));
  EXPECT_EQ(log.find("SASS is not kept"), log.rfind("SASS is not kept")) << log;
}

TEST_F(Inspection, SaysWhereADisassemblerComesFrom) {
  const PathScope scope("/none");
  if (compile::find_disassembler("", compile::find_nvrtc()->path)) {
    GTEST_SKIP() << "the toolkit has a disassembler";
  }
  Options settings = options();
  settings.cache_keep.sass = true;
  ::testing::internal::CaptureStderr();
  {
    Compiler compiler(settings);
    (void)compiler.compile(make_op(f32, {{"a", "64:1"}, {"b", "64:1"}}, "b = a"), kHopper);
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("put one of the CUDA toolkit's on PATH"));
}

}  // namespace
}  // namespace tilejit
