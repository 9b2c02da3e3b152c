// Kernel descriptors as JSON: who may read them, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cuda/kernels.hpp"
#include "fake/expect_error.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/manifest.hpp"

namespace tilejit {
namespace {

using nlohmann::json;
using test::TestFolder;
using ::testing::HasSubstr;

const SpecOptions kAllowed{.allow_source = true};

json scale_json() {
  return json::parse(R"_({
    "op": "cuda", "name": "scale", "text": "// nothing\n", "entry": "scale_by",
    "tensors": {"x": {"dtype": "f32", "shape": ["N"]},
                "y": {"dtype": "f32", "shape": ["N"], "access": "out"}},
    "scalars": {"factor": "f32"},
    "constants": {"kThreads": 128, "fast": true, "T": "f16", "eps": 0.5,
                  "A": {"layout": "Sw<1,0,2> o 0 o (8,(4,2)):(1,(8,32))"}},
    "options": ["-DN_MAX=4"],
    "launch": {"grid": ["ceil_div(N, kThreads)", 2], "block": "kThreads", "shared": "4*kThreads"},
    "tune": {"kThreads": [64, 128]},
    "reference": {"formula": "y = factor * x"}
  })_");
}

TEST(KernelJson, ReadsBackToAnEqualValue) {
  const Operation op = parse_operation(scale_json().dump(), kAllowed);
  const CudaKernel* const kernel = cuda_kernel(op);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->entry, "scale_by");
  EXPECT_EQ(kernel->constants.size(), 5u);
  EXPECT_EQ(kernel->launch.grid, (std::vector<std::string>{"ceil_div(N, kThreads)", "2"}));
  EXPECT_EQ(parse_operation(to_json(op), kAllowed), op);
  const Operation tuned = op.with_tuning({.constants = {{"kThreads", "64"}}});
  EXPECT_EQ(parse_operation(to_json(tuned), kAllowed), tuned);
  EXPECT_EQ(resolve_access(op), (std::vector{Access::in, Access::out}));
}

TEST(KernelJson, NeedsLeave) {
  const std::string text = scale_json().dump();
  EXPECT_EQ(expect_error(ErrorCode::unsupported, "brings CUDA source",
                         [&] { (void)parse_operation(text); }),
            "/op");
  expect_error(ErrorCode::unsupported, "--allow-source", [&] { (void)parse_specs(text); });
  // The other descriptors of a list are still read.
  const std::string list = R"({"kernels": [)" + text +
                           R"(, {"tensors": {"y": {"dtype": "f32", "shape": [4]}},
                               "formula": "y = 1"}]})";
  std::vector<Error> faults;
  EXPECT_EQ(parse_specs(list, &faults).size(), 1u);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0].what(), HasSubstr("brings CUDA source"));
  EXPECT_EQ(parse_specs(list, nullptr, kAllowed).size(), 2u);
}

TEST(KernelJson, NeedsLeaveInManifestsToo) {
  const std::string line =
      manifest_line(parse_operation(scale_json().dump(), kAllowed), Target{}) + '\n';
  const Manifest refused = parse_manifest(line);
  EXPECT_TRUE(refused.entries.empty());
  ASSERT_EQ(refused.faults.size(), 1u);
  EXPECT_THAT(refused.faults[0], HasSubstr("brings CUDA source"));
  const Manifest read = parse_manifest(line, kAllowed);
  ASSERT_EQ(read.entries.size(), 1u);
  EXPECT_EQ(manifest_line(read.entries[0].op, read.entries[0].target) + '\n', line);
}

TEST(KernelJson, DoesNotReadFilesWithoutLeave) {
  json spec = scale_json();
  spec.erase("text");
  spec["source"] = "no/such/file.cu";
  expect_error(ErrorCode::unsupported, "brings CUDA source",
               [&] { (void)parse_operation(spec.dump()); });
  expect_error(ErrorCode::io, "could not be read",
               [&] { (void)parse_operation(spec.dump(), kAllowed); });
}

TEST(KernelJson, ReadsFilesBelowTheFolderOfTheSpec) {
  const TestFolder folder;
  folder.write("src/k.cu", "#include \"../x.cuh\"\n");
  json spec = scale_json();
  spec.erase("text");
  spec["source"] = "src/k.cu";
  const SpecOptions options{.allow_source = true, .folder = folder.path()};
  expect_error(ErrorCode::invalid_spec, "names no '..'",
               [&] { (void)parse_operation(spec.dump(), options); });
  folder.write("src/k.cu", "#include \"x.cuh\"\n");
  folder.write("inc/x.cuh", "// x\n");
  spec["include_dirs"] = {"inc"};
  const Operation op = parse_operation(spec.dump(), options);
  EXPECT_EQ(cuda_kernel(op)->headers.size(), 1u);
  // The JSON that it is written as needs no file.
  std::filesystem::remove_all(folder.path());
  EXPECT_EQ(parse_operation(to_json(op), kAllowed), op);
}

struct Change {
  const char* pointer;
  const char* value;
  const char* why;
  const char* where;  // empty: `pointer`
};
constexpr Change kChanges[] = {
    {"/source", "\"../k.cu\"", "is not one below the folder of the spec", ""},
    {"/source", "\"/k.cu\"", "is not one below the folder of the spec", ""},
    {"/text", "7", "expected a string", ""},
    {"/sorce", "\"k.cu\"", "unknown field 'sorce'; did you mean 'source'?", ""},
    {"/entry", "\"a b\"", "is not the name of a kernel", ""},
    {"/entry", "\"a\\\"; asm\"", "is not the name of a kernel", ""},
    {"/launch", "{\"block\": 32}", "the field 'grid' is missing", ""},
    {"/launch/grid", "[1, 2, 3, 4]", "1 to 3 extents", ""},
    {"/launch/grid", "\"M\"", "'M' is neither an integer constant nor a symbol", "/launch/grid/0"},
    {"/launch/grid", "\"ceil_div(N kThreads)\"", "^", "/launch/grid/0"},
    {"/launch/grid", "0", "1 to 2147483647 blocks along x, and '0' is 0", "/launch/grid/0"},
    {"/launch/grid", "[\"N\", \"kThreads*512\"]", "1 to 65535 blocks along y, and",
     "/launch/grid/1"},
    {"/launch/grid", "2147483648", "and '2147483648' is 2147483648", "/launch/grid/0"},
    {"/launch/block", "1025", "1 to 1024 threads along x", "/launch/block/0"},
    {"/launch/block", "[64, 32]", "at most 1024 threads, and this one has 2048", ""},
    {"/launch/block", "\"eps\"", "'eps' is neither an integer constant", "/launch/block/0"},
    {"/launch/shared", "\"0-1\"", "0 to 2147483647 bytes", ""},
    {"/launch/cluster", "9", "1 to 8 blocks, not 9", ""},
    {"/launch/cluster", "\"N\"", "known before the launch", ""},
    {"/options/0", "\"-I/usr/include\"", "the option '-I/usr/include' is refused", ""},
    {"/options/0", "\"-DX=\\\"\"", "is refused", ""},
    {"/options/0", "\"--maxrregcount=many\"", "is refused", ""},
    {"/options/0", "\"--device-debug\"", "is refused", ""},
    {"/zeroed", "[\"z\"]", "no tensor is called 'z'", "/zeroed/0"},
    {"/tensors/x/access", "\"in\"", "", ""},
    {"/tensors/y/access", "\"in\"", "the kernel writes no tensor", "/tensors"},
    {"/constants/N", "4", "'N' is used twice", "/symbols/N"},
    {"/constants/int", "4", "belongs to C++", ""},
    {"/constants/tile", "4", "belongs to C++", ""},
    {"/constants/kThreads", "[1]", "a constant is a number", ""},
    {"/constants/T", "\"f17\"", "unknown dtype 'f17'", ""},
    {"/constants/A/layout", "\"(8,4\"", "", ""},
    {"/symbols/Q", "{}", "no layout uses the symbol 'Q'", ""},
    {"/tune/kBins", "[1]", "no constant is called 'kBins'", ""},
    {"/tune/kThreads", "[\"f16\"]", "1 to 64 values of the kind of its usual one, 128", ""},
    {"/args", "\"struct\"", "use \"params\" or \"positional\"", ""},
    {"/tuning", "{\"threads\": 64}", "tuning chooses \"constants\" only", ""},
    {"/tuning", "{\"constants\": {\"kThread\": 64}}", "did you mean 'kThreads'?",
     "/tuning/constants"},
    {"/tuning", "{\"constants\": {\"kThreads\": \"f16\"}}", "is not a number", "/tuning/constants"},
    {"/reference", "{}", "a reference is one of", ""},
    {"/reference/formula", "\"z = x\"", "", "/formula"},
    {"/reference/kernel", "{}", "a reference is one of", "/reference"},
};

TEST(KernelJson, RefusesOneFaultEach) {
  for (const Change& c : kChanges) {
    SCOPED_TRACE(std::string(c.pointer) + " = " + c.value);
    json spec = scale_json();
    spec[json::json_pointer(c.pointer)] = json::parse(c.value);
    if (std::string_view(c.pointer) == "/tensors/x/access") {
      EXPECT_NO_THROW((void)parse_operation(spec.dump(), kAllowed));
      continue;
    }
    try {
      (void)parse_operation(spec.dump(), kAllowed);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.why));
      EXPECT_EQ(error.where(), *c.where == '\0' ? c.pointer : c.where) << error.what();
    }
  }
}

TEST(KernelJson, IsSweptOverItsConstants) {
  json spec = scale_json();
  spec["sweep"] = {{"threads", {64, 256}}, {"type", {"f16", "f32"}}};
  spec["constants"]["kThreads"] = "threads";
  spec["constants"]["T"] = "type";
  spec["tune"].clear();
  spec["launch"]["grid"] = "ceil_div(N, threads)";
  const std::vector<Operation> ops = parse_specs(spec.dump(), nullptr, kAllowed);
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_EQ(ops[3].name(), "scale_256_f32");
  EXPECT_EQ(cuda_kernel(ops[3])->launch.grid.front(), "ceil_div(N, 256)");
  EXPECT_THAT(render_header(ops[3], Target{}), HasSubstr("constexpr int kThreads = 256;"));
}

}  // namespace
}  // namespace tilejit
