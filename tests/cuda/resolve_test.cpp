// The files of a kernel: which ones are read, and what is refused.
#include "cuda/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda/kernels.hpp"
#include "fake/expect_error.hpp"

namespace tilejit::cuda {
namespace {

using test::scale_kernel;
using test::TestFolder;
using ::testing::ElementsAre;
using ::testing::Pair;

CudaKernel of_file(const std::filesystem::path& source) {
  CudaKernel kernel = scale_kernel();
  kernel.text.clear();
  kernel.source = source;
  return kernel;
}

TEST(Resolve, ReadsWhatIsIncludedThroughOtherFiles) {
  const TestFolder folder;
  const auto source = folder.write("k.cu", "#include \"sub/a.cuh\"\n#include <lib.cuh>\n");
  folder.write("sub/a.cuh", "#include \"b.cuh\"\n");
  folder.write("sub/b.cuh", "// b\n");
  folder.write("more/lib.cuh", "#include \"sub/a.cuh\"\n");
  CudaKernel kernel = of_file(source);
  kernel.include_dirs = {folder.path() / "more", folder.path()};
  const Resolved resolved = resolve(kernel);
  EXPECT_EQ(resolved.source, "k.cu");
  EXPECT_EQ(resolved.entry, "scale");
  EXPECT_THAT(resolved.headers,
              ElementsAre(Pair("b.cuh", "// b\n"), Pair("lib.cuh", "#include \"sub/a.cuh\"\n"),
                          Pair("sub/a.cuh", "#include \"b.cuh\"\n")));
  // Self-contained: nothing is read again.
  std::filesystem::remove_all(folder.path());
  EXPECT_EQ(resolve(resolved).digest, resolved.digest);
}

TEST(Resolve, DependsOnEveryByteOfEveryFile) {
  const TestFolder folder;
  const auto source = folder.write("k.cu", "#include \"a.cuh\"\n");
  folder.write("a.cuh", "#include \"b.cuh\"\n");
  folder.write("b.cuh", "1");
  const std::string digest = resolve(of_file(source)).digest;
  EXPECT_EQ(resolve(of_file(source)).digest, digest);
  folder.write("b.cuh", "2");
  EXPECT_NE(resolve(of_file(source)).digest, digest);
  folder.write("b.cuh", "1");
  folder.write("k.cu", "#include \"a.cuh\"\n ");
  EXPECT_NE(resolve(of_file(source)).digest, digest);
}

TEST(Resolve, TakesGivenHeadersBeforeFiles) {
  const TestFolder folder;
  const auto source = folder.write("k.cu", "#include \"a.cuh\"\n");
  folder.write("a.cuh", "file");
  CudaKernel kernel = of_file(source);
  kernel.headers = {{"a.cuh", "given"}, {"unused.cuh", "dropped"}};
  EXPECT_THAT(resolve(kernel).headers, ElementsAre(Pair("a.cuh", "given")));
}

struct Fault {
  const char* name;
  const char* source;  // with a.cuh, b.cuh below
  const char* why;
};
constexpr Fault kFaults[] = {
    {"cycle", "#include \"a.cuh\"\n", "a.cuh includes b.cuh includes a.cuh: a cycle"},
    {"own cycle", "#include \"k.cu\"\n", "k.cu includes k.cu: a cycle"},
    {"above", "\n#include \"../x.cuh\"\n",
     "k.cu line 2 includes \"../x.cuh\"; an include names no"},
    {"absolute", "#include \"/etc/passwd\"\n", "an include names no '..' and no absolute path"},
    {"missing", "\n\n#include \"none.cuh\"\n",
     "k.cu line 3 includes \"none.cuh\", which is neither"},
    {"tile", "#include \"tile/typs.cuh\"\n", "does not have; did you mean 'tile/types.cuh'?"},
    {"twice", "#include \"c.cuh\"\n#include \"sub/d.cuh\"\n", "another file of that name"},
};

TEST(Resolve, RefusesIncludes) {
  const TestFolder folder;
  folder.write("a.cuh", "#include \"b.cuh\"\n");
  folder.write("b.cuh", "#pragma once\n#include \"a.cuh\"\n");
  folder.write("c.cuh", "one");
  folder.write("sub/d.cuh", "#include \"c.cuh\"\n");
  folder.write("sub/c.cuh", "other");
  for (const Fault& c : kFaults) {
    SCOPED_TRACE(c.name);
    const auto source = folder.write("k.cu", c.source);
    EXPECT_EQ(expect_error(ErrorCode::invalid_spec, c.why, [&] { (void)resolve(of_file(source)); }),
              "/source");
  }
  // Files that the compiler may not read are left to it.
  folder.write("k.cu", "#if HOST\n#include \"none.cuh\"\n#endif\n#include <none>\n");
  EXPECT_TRUE(resolve(of_file(folder.path() / "k.cu")).headers.empty());
}

TEST(Resolve, RefusesSources) {
  const TestFolder folder;
  expect_error(ErrorCode::io, "none.cu could not be read",
               [&] { (void)resolve(of_file(folder.path() / "none.cu")); });
  expect_error(ErrorCode::io, "could not be read", [&] { (void)resolve(of_file(folder.path())); });
  expect_error(ErrorCode::invalid_spec, "the kernel has no source",
               [] { (void)resolve(of_file({})); });
  CudaKernel named = scale_kernel();
  named.source = "a\"\n#include \"b.cu";
  expect_error(ErrorCode::invalid_spec, "has a quote, a backslash or a control character",
               [&] { (void)resolve(named); });
  CudaKernel large = scale_kernel();
  large.text.append(1 << 20, ' ');
  expect_error(ErrorCode::unsupported, "a kernel's has at most 524288",
               [&] { (void)resolve(large); });
  const auto source = folder.write("large.cu", large.text);
  expect_error(ErrorCode::unsupported, "a kernel's has at most 524288",
               [&] { (void)resolve(of_file(source)); });
}

TEST(Resolve, FindsHeadersOfTheToolkit) {
  const TestFolder folder;
  folder.write("include/cuda.h", "#define CUDA_VERSION 12090\n");
  folder.write("include/cuda_fp16.h", "struct __half;\n");
  folder.write("include/cccl/cuda/std/cstdint", "\n");
  const char* const hidden = std::getenv("TILEJIT_NO_TOOLKIT");
  const std::string before = hidden == nullptr ? "" : hidden;
  ::setenv("TILEJIT_NO_TOOLKIT", "0", 1);
  ::setenv("CUDA_HOME", folder.path().c_str(), 1);
  CudaKernel kernel = scale_kernel();
  const std::string without = resolve(kernel).digest;
  EXPECT_FALSE(resolve(kernel).toolkit);
  kernel.text += "#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n";
  const Resolved found = resolve(kernel);
  ::unsetenv("CUDA_HOME");
  ::setenv("TILEJIT_NO_TOOLKIT", before.c_str(), 1);
  ASSERT_TRUE(found.toolkit);
  EXPECT_EQ(found.toolkit->version, "12090");
  EXPECT_THAT(found.toolkit->folders, ElementsAre((folder.path() / "include").string(),
                                                  (folder.path() / "include/cccl").string()));
  EXPECT_TRUE(found.headers.empty());
  EXPECT_NE(found.digest, without);
}

}  // namespace
}  // namespace tilejit::cuda
