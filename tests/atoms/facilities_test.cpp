// What the tile library has besides products, and kernels that use it, assembled by NVRTC: the
// machine code holds the instructions, and main loops have nothing that slows them down.
#include "atoms/facilities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "atoms/compile_text.hpp"
#include "atoms/emit_mma.hpp"
#include "atoms/mma_atom.hpp"
#include "support/sass.hpp"
#include "support/source_dir.hpp"
#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

std::string kernel_of(const Facility& facility) {
  return std::string("extern \"C\" __global__ void __launch_bounds__(256, 1) k_") + facility.name +
         "(const __grid_constant__ Maps maps, u64* p) {\n  const u32 s = "
         "u32(__cvta_generic_to_shared(smem));\n" +
         facility.body + "}\n";
}

constexpr const char* kFacilityStart = R"(using namespace tile;
struct alignas(64) Maps { u64 opaque[16]; };
extern __shared__ __align__(1024) unsigned char smem[];
)";

std::string facilities_text(const std::vector<const Facility*>& some) {
  std::string text;
  for (const Facility* one : some) {
    text += "#include \"tile/" + std::string(one->header) + "\"\n";
  }
  text += kFacilityStart;
  for (const Facility* one : some) text += kernel_of(*one);
  return text;
}

class FacilitiesForTarget : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, FacilitiesForTarget, testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(FacilitiesForTarget, AreTheCopiesAndBarriersThatItShouldHave) {
  const Target target = parse_target(GetParam());
  std::vector<const Facility*> had;
  for (const Facility& facility : kFacilities) {
    if (has(target, facility)) {
      had.push_back(&facility);
      continue;
    }
    SCOPED_TRACE(facility.name);
    try {
      const compile::Compiled compiled = compile_text(facilities_text({&facility}), GetParam());
      EXPECT_THAT(compiled.log, testing::HasSubstr("substantially reduced performance"));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::compile_failed);
    }
  }
  const compile::Compiled compiled = compile_text(facilities_text(had), GetParam());
  EXPECT_THAT(compiled.log, testing::Not(testing::HasSubstr("C75")));
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  const auto code = test::sass_of(compiled.cubin);
  for (const Facility* one : had) {
    std::istringstream wanted(one->sass);
    for (std::string name; wanted >> name;) {
      EXPECT_THAT(code.at("k_" + std::string(one->name)),
                  testing::Contains(testing::HasSubstr(name)));
    }
  }
}

/// A kernel of this folder, whose main loop has so many products.
struct Gemm {
  const char* name;
  const char* target;
  int columns, stages, cluster;  ///< of gemm_hopper.cu
  const char* products;

  [[nodiscard]] bool is_hopper() const { return columns != 0; }
};

std::string product_header(const Gemm& gemm) {
  if (!gemm.is_hopper()) return emit(parse_mma_atom("mma_m16n8k16_f32_bf16_bf16"), "Mma");
  const std::string n = std::to_string(gemm.columns);
  return emit(parse_mma_atom("wgmma_m64n" + n + "k16_f32_bf16_bf16"), "Mma") +
         emit(SharedTile{.mn = 128, .k = 64}, "TileA", 64, 16) +
         emit(SharedTile{.mn = gemm.columns, .k = 64}, "TileB", gemm.columns, 16) +
         "constexpr int kConsumers = 2, kStages = " + std::to_string(gemm.stages) +
         ", kCluster = " + std::to_string(gemm.cluster) + ";\n";
}

class GemmOverTheLibrary : public testing::TestWithParam<Gemm> {};
INSTANTIATE_TEST_SUITE_P(Kernels, GemmOverTheLibrary,
                         testing::Values(Gemm{"hopper_128x256", "sm_90a", 256, 4, 2, "HGMMA=4"},
                                         Gemm{"hopper_128x128", "sm_90a", 128, 6, 1, "HGMMA=4"},
                                         Gemm{"ampere_sm_80", "sm_80", 0, 0, 0, "HMMA=32"},
                                         Gemm{"ampere_sm_120a", "sm_120a", 0, 0, 0, "HMMA=32"}),
                         [](const auto& info) { return std::string(info.param.name); });

// No fence, no spill, no serialised product in the main loop, whose products are the expected ones.
TEST_P(GemmOverTheLibrary, HasACleanMainLoop) {
  const Gemm gemm = GetParam();
  std::ifstream file(test::source_dir() / "tests/atoms" /
                     (gemm.is_hopper() ? "gemm_hopper.cu" : "gemm_ampere.cu"));
  std::ostringstream text;
  text << file.rdbuf();
  operation::Source source = source_of(text.str());
  source.headers.emplace_back("product.cuh", product_header(gemm));
  const compile::Compiled compiled =
      nvrtc().compile({.source = source, .target = gemm.target, .options = {"--ptxas-options=-v"}});
  EXPECT_THAT(compiled.log, testing::HasSubstr(" 0 bytes spill stores, 0 bytes spill loads"));
  EXPECT_THAT(compiled.log, testing::Not(testing::HasSubstr("C75")));
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  const std::string cubin =
      testing::TempDir() + "tilejit_" + gemm.name + '_' + std::to_string(::getpid()) + ".cubin";
  std::ofstream(cubin, std::ios::binary) << compiled.cubin;
  const std::string check = std::string(TILEJIT_TEST_PYTHON) + " '" +
                            (test::source_dir() / "tests/sass/check_sass.py").string() + "' '" +
                            cubin + "' --expect " + gemm.products;
  EXPECT_EQ(std::system(check.c_str()), 0);
  std::remove(cubin.c_str());
}

// The headers say which target they need.
TEST(Headers, RefuseTargetsThatLackTheirInstructions) {
  const auto log_of = [](const char* header, const char* target) -> std::string {
    try {
      (void)compile_text("#include \"tile/" + std::string(header) + "\"\n", target);
    } catch (const Error& error) {
      return error.log();
    }
    return "compiled";
  };
  EXPECT_THAT(log_of("async_copy.cuh", "sm_75"), testing::HasSubstr("needs sm_80 or later"));
  for (const char* header : {"mbarrier.cuh", "pipeline.cuh", "tensor_map.cuh", "roles.cuh"}) {
    EXPECT_THAT(log_of(header, "sm_89"), testing::HasSubstr("needs sm_90 or later"));
  }
  for (const char* target : {"sm_89", "sm_90", "sm_100a"}) {
    EXPECT_THAT(log_of("wgmma.cuh", target), testing::HasSubstr("needs sm_90a"));
  }
}

}  // namespace
}  // namespace tilejit::atoms
