#include "compile/search.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <string>

#include "compile/nvrtc_api.hpp"
#include "compile/search_places.hpp"
#include "fake_elf.hpp"
#include "support.hpp"
#include "support/source_dir.hpp"

namespace tilejit::compile {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct NameCase {
  const char* name;
  std::optional<std::pair<int, int>> want;
};

TEST(VersionInName, ReadsMajorAndMinor) {
  const NameCase cases[] = {
      {"libnvrtc.so.13", {{13, -1}}},
      {"libnvrtc.so.12.4.127", {{12, 4}}},
      {"libnvrtc.so.11.2", {{11, 2}}},
      {"libnvrtc.so", std::nullopt},
      {"libnvrtc.so.", std::nullopt},
      {"libnvrtc.so.x", std::nullopt},
      {"libnvrtc.so.99999999999999999999", std::nullopt},
      {"libnvrtc-builtins.so.13.0", std::nullopt},
  };
  for (const auto& c : cases) EXPECT_EQ(version_in_name(c.name), c.want) << c.name;
}

struct VersionCase {
  int major;
  int minor;
};

TEST(RequireSupported, Accepts12_8To13) {
  for (const VersionCase c : {VersionCase{12, 8}, {12, 9}, {12, 10}, {13, 0}, {13, 5}}) {
    EXPECT_NO_THROW(require_supported(c.major, c.minor, "lib")) << c.major << '.' << c.minor;
  }
}

TEST(RequireSupported, RefusesOthersAndSaysWhichWasFound) {
  for (const VersionCase c : {VersionCase{11, 8}, {12, 0}, {12, 7}, {14, 0}}) {
    const Error error = thrown_by([&] { require_supported(c.major, c.minor, "/lib/found"); });
    EXPECT_EQ(error.code(), ErrorCode::no_compiler);
    EXPECT_THAT(error.what(),
                HasSubstr("version " + std::to_string(c.major) + "." + std::to_string(c.minor)));
    EXPECT_EQ(error.where(), "/lib/found");
  }
}

struct PlaceCase {
  const char* name;
  const char* file;  // below the folder given
};

TEST(FindNvrtc, LooksIntoAndBelowAnExplicitFolder) {
  const PlaceCase cases[] = {
      {"plain", "libnvrtc.so"},
      {"major 13", "libnvrtc.so.13"},
      {"major 12", "libnvrtc.so.12"},
      {"a toolkit", "lib64/libnvrtc.so"},
      {"wheels of CUDA 13", "nvidia/cu13/lib/libnvrtc.so.13"},
      {"wheels of CUDA 12", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const TempFolder folder;
    write_file(folder.path() / c.file, FakeElf().bytes());
    const auto found = find_nvrtc(folder.path());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->path, folder.path() / c.file);
    EXPECT_EQ(found->build, "deadbeef");
    EXPECT_EQ(find_nvrtc(folder.path() / c.file)->path, folder.path() / c.file);
  }
}

// The key did not change if only the builtins library did.
TEST(FindNvrtc, TellsBuiltinsFromEachOther) {
  struct BuiltinsCase {
    const char *name, *library, *builtins, *build;
  };
  const BuiltinsCase cases[] = {
      {"none", "libnvrtc.so.13", "libnvrtc-builtins.so", "deadbeef"},
      {"of the major version", "libnvrtc.so.13", "libnvrtc-builtins.so.13.2", "deadbeef.cafecafe"},
      {"of another one", "libnvrtc.so.13", "libnvrtc-builtins.so.12.9", "deadbeef"},
      {"of the version in the name", "libnvrtc.so.12.9.86", "libnvrtc-builtins.so.12.9",
       "deadbeef.cafecafe"},
      {"of another minor version", "libnvrtc.so.12.9.86", "libnvrtc-builtins.so.12.8", "deadbeef"},
      {"of a library without a version", "nvrtc.so", "libnvrtc-builtins.so.13.0",
       "deadbeef.cafecafe"},
  };
  FakeElf builtins;
  builtins.note_text = std::string("GNU\0\xca\xfe\xca\xfe", 8);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const TempFolder folder, elsewhere;
    write_file(folder.path() / c.library, FakeElf().bytes());
    write_file(folder.path() / c.builtins, builtins.bytes());
    EXPECT_EQ(find_nvrtc(folder.path() / c.library)->build, c.build);
    const auto link = elsewhere.path() / c.library;  // the folder of the link's target counts
    std::filesystem::create_symlink(folder.path() / c.library, link);
    EXPECT_EQ(find_nvrtc(link)->build, c.build);
  }
}

TEST(FindNvrtc, WithAnExplicitPathLooksNowhereElse) {
  const TempFolder empty;
  EXPECT_FALSE(find_nvrtc(empty.path()));
  EXPECT_FALSE(find_nvrtc(empty.path() / "missing.so"));
  write_file(empty.path() / "text.so", "text");
  EXPECT_FALSE(find_nvrtc(empty.path() / "text.so"));
  EXPECT_THAT(search_nvrtc(empty.path() / "missing.so").looked_in,
              ElementsAre((empty.path() / "missing.so").string()));
}

TEST(FindNvrtc, TakesAnExplicitOldVersionForTheLoaderToRefuse) {
  const TempFolder folder;
  write_file(folder.path() / "libnvrtc.so.11.2", FakeElf().bytes());
  EXPECT_TRUE(find_nvrtc(folder.path() / "libnvrtc.so.11.2"));
}

// The rest cannot be observed if a copy is already loaded: it is taken first.
class FindNvrtcAround : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* soname : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
      if (::dlopen(soname, RTLD_LAZY | RTLD_NOLOAD) != nullptr) {
        GTEST_SKIP() << soname << " is loaded already, by another test of this process";
      }
    }
  }

  TempFolder first_, second_;
};

TEST_F(FindNvrtcAround, FollowsTheEnvironmentInOrder) {
  write_file(second_.path() / "lib64/libnvrtc.so", FakeElf().bytes());
  const ScopedVariable toolkits("TILEJIT_NO_TOOLKIT", "0");
  const ScopedVariable home("CUDA_HOME", second_.path());
  const ScopedVariable libraries("LD_LIBRARY_PATH", "/missing::" + first_.path().string() + ":");
  EXPECT_EQ(find_nvrtc()->path, second_.path() / "lib64/libnvrtc.so");
  write_file(first_.path() / "libnvrtc.so.13", FakeElf().bytes());
  EXPECT_EQ(find_nvrtc()->path, first_.path() / "libnvrtc.so.13");
}

TEST_F(FindNvrtcAround, PassesOverWhatIsTooOldOrBroken) {
  write_file(first_.path() / "libnvrtc.so.12.4.127", FakeElf().bytes());
  std::filesystem::create_symlink("libnvrtc.so.12.4.127", first_.path() / "libnvrtc.so.12");
  write_file(first_.path() / "libnvrtc.so", "INPUT(libnvrtc.so.12)");
  write_file(second_.path() / "targets/any-linux/lib/libnvrtc.so.13", FakeElf().bytes());
  const ScopedVariable toolkits("TILEJIT_NO_TOOLKIT", "0");
  const ScopedVariable libraries("LD_LIBRARY_PATH", first_.path());
  const ScopedVariable home("CUDA_HOME", second_.path());
  EXPECT_EQ(find_nvrtc()->path, second_.path() / "targets/any-linux/lib/libnvrtc.so.13");
}

TEST_F(FindNvrtcAround, DoesNotLoadTheLibrary) {
  write_file(first_.path() / "libnvrtc.so.13", FakeElf().bytes());  // would not load
  const ScopedVariable libraries("LD_LIBRARY_PATH", first_.path());
  EXPECT_EQ(find_nvrtc()->build, "deadbeef");
  EXPECT_EQ(::dlopen("libnvrtc.so.13", RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

// NVRTC 13.0 has no run path: it found its builtins only in the loader's default folders.
TEST_F(FindNvrtcAround, NvrtcTakesTheBuiltinsBesideIt) {
  const auto installed = find_nvrtc();
  if (!installed) GTEST_SKIP() << "NVRTC is not installed";
  const auto folder = std::filesystem::canonical(installed->path).parent_path();
  for (const auto& item : std::filesystem::directory_iterator(folder)) {
    if (item.path().filename().string().starts_with("libnvrtc")) {
      std::filesystem::create_symlink(item.path(), first_.path() / item.path().filename());
    }
  }
  const Nvrtc nvrtc(first_.path());
  const std::string name = "libnvrtc-builtins.so." + nvrtc.version();
  void* builtins = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(builtins, nullptr);
  const link_map* map = nullptr;
  ASSERT_EQ(::dlinfo(builtins, RTLD_DI_LINKMAP, &map), 0);
  EXPECT_EQ(map->l_name, first_.path() / name);
}

struct HiddenCase {
  const char* name;
  const char* home;       // the variable that names the toolkit
  const char* libraries;  // LD_LIBRARY_PATH, below `first_`
};

TEST_F(FindNvrtcAround, FindsNothingOfAHiddenToolkit) {
  const HiddenCase cases[] = {
      {"by CUDA_HOME", "CUDA_HOME", ""},
      {"by CUDA_PATH", "CUDA_PATH", ""},
      {"on LD_LIBRARY_PATH", "CUDA_HOME", "toolkit/lib64"},
      {"behind a link on LD_LIBRARY_PATH", "CUDA_PATH", "link"},
  };
  const auto toolkit = first_.path() / "toolkit";
  write_file(toolkit / "lib64/libnvrtc.so.13", FakeElf().bytes());
  std::filesystem::create_symlink(toolkit / "lib64", first_.path() / "link");
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const ScopedVariable no_home("CUDA_HOME", ""), home(c.home, toolkit);
    const ScopedVariable libraries("LD_LIBRARY_PATH", first_.path() / c.libraries);
    for (const char* hidden : {"0", "1"}) {
      const ScopedVariable toolkits("TILEJIT_NO_TOOLKIT", hidden);
      const SearchResult search = search_nvrtc({});
      EXPECT_EQ(search.found && search.found->build == "deadbeef", *hidden == '0');
      EXPECT_THAT(search.looked_in, Not(Contains(StartsWith("/usr/local/cuda"))));
    }
  }
}

TEST_F(FindNvrtcAround, TellsWhereItLooked) {
  const ScopedVariable toolkits("TILEJIT_NO_TOOLKIT", "0");
  const ScopedVariable libraries("LD_LIBRARY_PATH", first_.path());
  const ScopedVariable home("CUDA_HOME", second_.path());
  const auto places = search_nvrtc({}).looked_in;
  EXPECT_THAT(places, Contains(first_.path().string()));
  EXPECT_THAT(places, Contains((second_.path() / "lib64").string()));
}

// A build finds what ./tools/setup fetched into the checkout.
TEST(RunPathFolders, HaveTheWheelsOfTheCheckout) {
  const auto wheels = test::source_dir() / ".deps/cuda/lib";
  if (!std::filesystem::exists(wheels)) GTEST_SKIP() << "a CUDA toolkit stands in for the wheels";
  EXPECT_THAT(run_path_folders(), Contains(wheels));
}

TEST(PythonPrefixes, AreTheEnvironmentTheUserAndTheSystem) {
  const ScopedVariable environment("VIRTUAL_ENV", "/venv");
  const ScopedVariable home("HOME", "/home/somebody");
  {
    const ScopedVariable base("PYTHONUSERBASE", "/base");
    EXPECT_THAT(python_prefixes(), ElementsAre("/venv", "/base", "/usr/local", "/usr"));
  }
  const ScopedVariable no_base("PYTHONUSERBASE", ""), no_environment("VIRTUAL_ENV", "");
  EXPECT_THAT(python_prefixes(), ElementsAre("/home/somebody/.local", "/usr/local", "/usr"));
}

TEST(PythonPackages, AreThoseOfTheNewestPythonFirst) {
  const TempFolder prefix;
  const std::filesystem::path want[] = {
      prefix.path() / "lib/python3.12/site-packages",
      prefix.path() / "lib/python3.12/dist-packages",
      prefix.path() / "lib/python3.9/site-packages",
      prefix.path() / "lib/python3/dist-packages",
  };
  for (const auto& folder : want) std::filesystem::create_directories(folder);
  std::filesystem::create_directories(prefix.path() / "lib/python3.13");  // has no packages
  std::filesystem::create_directories(prefix.path() / "lib/python2.7/site-packages");
  std::filesystem::create_symlink("lib", prefix.path() / "lib64");
  EXPECT_THAT(python_packages(prefix.path()), ElementsAreArray(want));
  EXPECT_THAT(python_packages(prefix.path() / "none"), IsEmpty());
}

TEST(Nvrtc, MissingLibrarySaysWhatToDo) {
  const TempFolder empty;
  const Error error = thrown_by([&] { const Nvrtc nvrtc(empty.path()); });
  EXPECT_EQ(error.code(), ErrorCode::no_compiler);
  for (const auto& text : {empty.path().string(), std::string("pip install nvidia-cuda-nvrtc"),
                           std::string("--break-system-packages"), std::string("CUDA toolkit"),
                           std::string("TILEJIT_NVRTC")}) {
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(Nvrtc, LibraryThatDoesNotLoadIsNamed) {
  const TempFolder folder;
  write_file(folder.path() / "libnvrtc.so", FakeElf().bytes());
  const Error error = thrown_by([&] { const Nvrtc nvrtc(folder.path()); });
  EXPECT_EQ(error.code(), ErrorCode::no_compiler);
  EXPECT_EQ(error.where(), folder.path() / "libnvrtc.so");
}

TEST(Nvrtc, LibraryOfAnotherKindIsNamed) {
  Dl_info libc;
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&::malloc), &libc), 0);
  const Error error = thrown_by([&] { const Nvrtc nvrtc(libc.dli_fname); });
  EXPECT_EQ(error.code(), ErrorCode::no_compiler);
  EXPECT_THAT(error.what(), HasSubstr("nvrtcVersion"));
}

}  // namespace
}  // namespace tilejit::compile
