#include "compile/disassemble.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tilejit/error.hpp"

namespace tilejit::compile {
namespace {

namespace fs = std::filesystem;

/// A separate folder for each test.
class Disassemble : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tilejit_disassemble_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path script(const fs::path& name, const std::string& body) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  [[nodiscard]] std::string at(const char* name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(Disassemble, IsFoundOnThePathThenInTheToolkit) {
  const fs::path dump = script("a/cuobjdump", "exit 0");
  EXPECT_EQ(find_disassembler(at("none") + ":" + at("a"), {}), dump);
  const fs::path later = script("b/nvdisasm", "exit 0");
  EXPECT_EQ(find_disassembler(at("a") + "::" + at("b"), {}), later);
  const fs::path toolkit = script("cuda/bin/nvdisasm", "exit 0");
  EXPECT_EQ(find_disassembler("", at("cuda/lib64/libnvrtc.so.13")), toolkit);
  EXPECT_EQ(find_disassembler("", at("cuda/targets/x86_64-linux/lib/libnvrtc.so.13")), toolkit);
  EXPECT_EQ(find_disassembler(at("b"), at("cuda/lib64/libnvrtc.so.13")), later);
  fs::permissions(later, fs::perms::owner_read);
  EXPECT_NE(find_disassembler(at("b"), {}), later);
}

TEST_F(Disassemble, GivesTheProgramTheCubinAndTakesWhatItSays) {
  const fs::path print = script("nvdisasm", "echo \"$1\"; cat \"$2\"");
  const std::string cubin(1 << 20, 'x');  // more than a pipe holds
  EXPECT_EQ(disassemble(print, cubin), "--print-code\n" + cubin);
  const fs::path name = script("cuobjdump", "echo \"$1\" \"$2\"");
  const std::string said = disassemble(name, "cubin");
  ASSERT_THAT(said, testing::StartsWith("--dump-sass /"));
  EXPECT_FALSE(fs::exists(said.substr(12, said.size() - 13)));  // the temporary file is gone
}

TEST_F(Disassemble, SaysWhatWentWrong) {
  const auto refused = [](const fs::path& program, const char* text) {
    try {
      (void)disassemble(program, "cubin");
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_THAT(error.what(), testing::HasSubstr(text));
    }
  };
  refused(script("nvdisasm", "echo 'unknown architecture' >&2; exit 3"), "unknown architecture");
  refused(script("silent", "exit 1"), "said nothing");
  refused(script("killed", "kill -9 $$"), "failed");
  refused(folder_ / "missing", "could not be started: No such file");
}

// A program that hung also hung the compile.
TEST_F(Disassemble, EndsAProgramThatTakesTooLong) {
  using namespace std::chrono_literals;
  for (const char* body :
       {"exec sleep 60", "echo x; exec sleep 60", "exec >&-; exec 2>&-; exec sleep 60"}) {
    SCOPED_TRACE(body);
    const fs::path program = script("nvdisasm", body);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW((void)disassemble(program, "cubin", 200ms), Error);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  }
}

}  // namespace
}  // namespace tilejit::compile
