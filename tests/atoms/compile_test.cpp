// Every instruction of the table, assembled by NVRTC for every target that has it; the machine code
// holds the tensor instruction. What the table says a target lacks, the assembler refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <map>
#include <regex>
#include <tuple>

#include "atoms/compile_text.hpp"
#include "atoms/emit_mma.hpp"
#include "atoms/facilities.hpp"
#include "atoms/mma_atom.hpp"
#include "atoms/ptx.hpp"
#include "support/sass.hpp"
#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

/// A kernel for each instruction, named as it is.
constexpr const char* kMmaKernels = R"(
template <class Mma>
__device__ void run(unsigned char* p) {
  auto* a = reinterpret_cast<typename Mma::A*>(p) + threadIdx.x * 16;
  auto* b = reinterpret_cast<typename Mma::B*>(p + 4096) + threadIdx.x * 16;
  auto* c = reinterpret_cast<typename Mma::C*>(p + 8192) + threadIdx.x * 16;
  typename Mma::A ra[Mma::kA];
  typename Mma::B rb[Mma::kB];
  typename Mma::C rc[Mma::kC];
  for (int i = 0; i < Mma::kA; ++i) ra[i] = a[i];
  for (int i = 0; i < Mma::kB; ++i) rb[i] = b[i];
  for (int i = 0; i < Mma::kC; ++i) rc[i] = c[i];
  tile::accumulate<Mma>(rc, ra, rb);
  for (int i = 0; i < Mma::kC; ++i) c[i] = rc[i];
}
)";

std::string kernels_of(const std::vector<MmaAtom>& atoms) {
  std::string text = std::string("#include \"tile/mma.cuh\"\n") + kMmaKernels;
  for (const MmaAtom& atom : atoms) {
    const std::string name = to_string(atom);
    text += emit(atom, name) + "extern \"C\" __global__ void k_" + name +
            "(unsigned char* p) { run<tile::" + name + ">(p); }\n";
  }
  return text;
}

/// Its tensor instructions, without operands: "HMMA.16816.F32.BF16".
std::vector<std::string> tensor_instructions(const std::vector<std::string>& code) {
  static const std::regex kTensor(R"(\b([HIDQ]G?MMA\.[\w.]+))");
  std::vector<std::string> found;
  for (const std::string& line : code) {
    std::smatch match;
    if (std::regex_search(line, match, kTensor)) found.push_back(match[1]);
  }
  return found;
}

/// "16816" as HMMA and IMMA write a shape, "16x8x16" as wgmma and DMMA do.
bool names_shape(const std::string& instruction, const MmaAtom& atom) {
  const std::string m = std::to_string(atom.m), n = std::to_string(atom.n),
                    k = std::to_string(atom.k);
  return instruction.find('.' + m + n + k) != std::string::npos ||
         instruction.find('.' + m + 'x' + n + 'x' + k) != std::string::npos;
}

std::vector<MmaAtom> warp_atoms(const Target& target, bool had) {
  std::vector<MmaAtom> some;
  for (const MmaAtom& atom : mma_atoms()) {
    if (atom.family == MmaFamily::mma_sync && (support(atom, target) != Support::none) == had) {
      some.push_back(atom);
    }
  }
  return some;
}

class AtomsForTarget : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, AtomsForTarget, testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(AtomsForTarget, AssembleToTensorInstructions) {
  const Target target = parse_target(GetParam());
  const std::vector<MmaAtom> atoms = warp_atoms(target, true);
  EXPECT_GE(atoms.size(), 6u);
  const compile::Compiled compiled = compile_text(kernels_of(atoms), GetParam());
  EXPECT_THAT(compiled.log, testing::Not(testing::ContainsRegex("[1-9][0-9]* bytes spill")));
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  const auto code = test::sass_of(compiled.cubin);
  for (const MmaAtom& atom : atoms) {
    SCOPED_TRACE(to_string(atom));
    const auto found = tensor_instructions(code.at("k_" + to_string(atom)));
    ASSERT_FALSE(found.empty());
    const bool is_native =
        found.size() == 1 && names_shape(found[0], atom) &&
        found[0].starts_with("HMMA") == (atom.a == f16 || atom.a == bf16 || atom.a == tf32);
    EXPECT_EQ(is_native, support(atom, target) == Support::native) << found[0];
  }
}

TEST_P(AtomsForTarget, AreRefusedByTheAssemblerWhereTheTableSaysNone) {
  const Target target = parse_target(GetParam());
  for (const MmaAtom& atom : warp_atoms(target, false)) {
    SCOPED_TRACE(to_string(atom));
    try {
      (void)compile_text(kernels_of({atom}), GetParam());
      ADD_FAILURE() << "assembled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::compile_failed);
    }
  }
}

/// Instructions of wgmma that can add to the same sums, in one kernel.
using Group = std::vector<MmaAtom>;

/// By N, K, the type of the sums, and where A is.
std::vector<Group> wgmma_groups(int part, int parts) {
  std::map<std::tuple<int, int, DType, ASource>, Group> groups;
  for (const MmaAtom& atom : mma_atoms()) {
    if (atom.family != MmaFamily::wgmma || atom.n / 8 % parts != part) continue;
    groups[{atom.n, atom.k, atom.c, atom.a_source}].push_back(atom);
  }
  std::vector<Group> all;
  for (const auto& [key, group] : groups) all.push_back(group);
  return all;
}

std::string wgmma_kernel(const Group& group) {
  const std::string first = to_string(group[0]);
  const bool rs = group[0].a_source == ASource::registers;
  std::string text, products;
  for (const MmaAtom& atom : group) {
    text += emit(atom, to_string(atom));
    products += "  " + to_string(atom) + "::fma<" + (products.empty() ? "true" : "false") +
                (rs ? ">(d, r, b);\n" : ">(d, a, b);\n");
  }
  return text + "extern \"C\" __global__ void k_" + first +
         "(void* p, unsigned long long a, unsigned long long b) {\n  using namespace tile;\n  " +
         first + "::C d[" + first +
         "::kC];\n  const u32 r[4] = {u32(a), u32(a) + 1, u32(a) + 2, u32(a) + 3};\n"
         "  wgmma_fence();\n" +
         products + "  wgmma_commit();\n  wgmma_wait<0>();\n" +
         // The last sum of a row: otherwise the assembler leaves out columns.
         "  *static_cast<" + first + "::C*>(p) = d[" + first + "::kC - 1];\n}\n";
}

/// "HGMMA.64x128x16.F32.BF16", as the machine code writes it.
std::string machine_name(const MmaAtom& atom) {
  const auto upper = [](DType type) {
    std::string text(ptx_type(type));
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  };
  const bool bytes = size_bytes(atom.a) == 1, integer = is_integer(atom.a);
  std::string name = (integer ? "IGMMA."
                      : bytes ? "QGMMA."
                              : "HGMMA.") +
                     std::to_string(atom.m) + 'x' + std::to_string(atom.n) + 'x' +
                     std::to_string(atom.k);
  if (!integer) name += '.' + upper(atom.c);
  if (bytes) return name + '.' + upper(atom.a) + '.' + upper(atom.b);
  return name + (atom.a == f16 ? "" : '.' + upper(atom.a));
}

/// The parts of the table of wgmma, so that they compile at the same time.
class Wgmma : public testing::TestWithParam<int> {
 public:
  static constexpr int kParts = 4;
};
INSTANTIATE_TEST_SUITE_P(Parts, Wgmma, testing::Range(0, Wgmma::kParts));

TEST_P(Wgmma, AssemblesToTensorInstructionsForEveryShapeAndType) {
  const std::vector<Group> groups = wgmma_groups(GetParam(), kParts);
  EXPECT_GT(groups.size(), 50u);
  std::string text = "#include \"tile/wgmma.cuh\"\n";
  for (const Group& group : groups) text += wgmma_kernel(group);
  const compile::Compiled compiled = compile_text(text, "sm_90a");
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  const auto code = test::sass_of(compiled.cubin);
  for (const Group& group : groups) {
    std::vector<std::string> want;
    for (const MmaAtom& atom : group) want.push_back(machine_name(atom));
    EXPECT_EQ(tensor_instructions(code.at("k_" + to_string(group[0]))), want);
  }
}

// Operands of both orders, and tiles in shared memory, are texts that compile.
TEST(Emitted, OperandsAndMajorsCompile) {
  const MmaAtom atom = parse_mma_atom("wgmma_m64n128k16_f32_bf16_bf16");
  std::string text = "#include \"tile/wgmma.cuh\"\n";
  const SharedTile a{.major = Major::mn, .mn = 128, .k = 64, .order = BlockOrder::k_first};
  const SharedTile b{.mn = 128, .k = 64};
  text += emit(a, "TileA", 64, 16) + emit(b, "TileB", 128, 16);
  text += emit(atom, "Mma", {.a = Major::mn, .b = Major::k});
  text += R"(
using namespace tile;
static_assert(TileA::kBytes == 16384 && TileA::kAlign == 1024, "");
static_assert(TileA::step(1, 0) == 8192 / 16 && TileA::step(0, 1) == 2048 / 16, "");
static_assert(TileB::step(0, 3) == 6, "");
static_assert(Mma::row_c(37, 2) == 16 + 1 + 8 && Mma::column_c(37, 5) == 8 + 2 + 1, "");
extern "C" __global__ void k(float* p) {
  float d[Mma::kC];
  clear(d);
  pin(d);
  wgmma_fence();
  for (int k = 0; k < 4; ++k) {
    Mma::fma<false>(d, TileA::descriptor(0) + TileA::step(1, k),
                    TileB::descriptor(16384) + TileB::step(0, k));
  }
  wgmma_commit();
  wgmma_wait<0>();
  pin(d);
  for (int i = 0; i < Mma::kC; ++i) p[threadIdx.x * Mma::kC + i] = d[i];
})";
  const compile::Compiled compiled = compile_text(text, "sm_90a");
  EXPECT_THAT(compiled.log, testing::Not(testing::HasSubstr("C75")));
}

/// Four products along K, of registers or of shared memory.
std::string kernel_of_steps(const MmaAtom& atom, bool together) {
  const bool rs = atom.a_source == ASource::registers;
  std::string text = "#include \"tile/wgmma.cuh\"\n" + emit(atom, "Mma", {}, together ? 4 : 0);
  text += R"(using namespace tile;
extern "C" __global__ void k(Mma::C* p, const u32* r) {
  Mma::C d[Mma::kC];
  u64 a[4];
  u64 b[4];
  u32 f[4][4];
  for (int k = 0; k < 4; ++k) {
    a[k] = r[k];
    b[k] = r[k] + 1;
    for (int i = 0; i < 4; ++i) f[k][i] = r[4 * k + i];
  }
  wgmma_fence();
)";
  const std::string first = rs ? "f" : "a";
  if (together) text += "  Mma::multiply(d, " + first + ", b, false);\n";
  for (int k = 0; k < (together ? 0 : 4); ++k) {
    const std::string at = "[" + std::to_string(k) + "]";
    text += std::string("  Mma::fma<") + (k == 0 ? "true" : "false") + ">(d, " + first + at +
            ", b" + at + ");\n";
  }
  return text + R"(  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < Mma::kC; ++i) p[threadIdx.x * Mma::kC + i] = d[i];
})";
}

TEST(Emitted, StepsInOneTextAreTheSameInstructions) {
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  for (const char* name : {"wgmma_m64n64k16_f32_bf16_bf16", "wgmma_m64n32k32_i32_i8_i8",
                           "wgmma_m64n128k8_f32_tf32_tf32_rs"}) {
    SCOPED_TRACE(name);
    std::array<std::vector<std::string>, 2> code;
    for (const bool together : {false, true}) {
      const compile::Compiled compiled =
          compile_text(kernel_of_steps(parse_mma_atom(name), together), "sm_90a");
      code[together ? 1 : 0] = tensor_instructions(test::sass_of(compiled.cubin).at("k"));
    }
    EXPECT_EQ(code[0].size(), 4U);
    EXPECT_EQ(code[0], code[1]);
  }
}

}  // namespace
}  // namespace tilejit::atoms
