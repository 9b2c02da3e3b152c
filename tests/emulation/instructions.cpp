#include "emulation/instructions.hpp"

#include <regex>
#include <string>
#include <string_view>
#include <utility>

namespace tilejit::test {
namespace {

/// Headers that are written in the device's instructions.
constexpr std::pair<const char*, const char*> kHostHeaders[] = {
    {"tile/f16.cuh",
     "#pragma once\n#include \"tile/packed.cuh\"\nnamespace tile {\n"
     "struct f16 {\n  u16 bits;\n};\n"
     "TILE_DEVICE void assign_bits(f16& x, u32 bits) {\n  x.bits = u16(bits);\n}\n"
     "TILE_DEVICE u32 bits_of(f16 x) {\n  return x.bits;\n}\n"
     "TILE_DEVICE float to_compute(f16 x) {\n  return emulation::half_value(x.bits);\n}\n"
     "template <>\nTILE_DEVICE f16 store_as<f16>(float x) {\n"
     "  return {u16(emulation::half_bits(x))};\n}\n}\n"},
    {"tile/barrier.cuh",
     "#pragma once\n#include \"tile/types.cuh\"\n"
     "namespace tile {\nusing emulation::shared_address;\n}\n"},
    {"tile/async_copy.cuh",
     "#pragma once\n#include \"tile/types.cuh\"\n"
     "namespace tile {\nusing emulation::async_copy_commit;\nusing emulation::async_copy_wait;\n"
     "using emulation::async_copy_or_zero;\n"
     "template <int kBytes>\nvoid async_copy(u32 to, const void* from) {\n"
     "  async_copy_or_zero<kBytes>(to, from, kBytes);\n}\n}\n"},
    {"tile/ldmatrix.cuh",
     "#pragma once\n#include \"tile/types.cuh\"\n"
     "namespace tile {\ntemplate <int kMatrices, bool kTransposed = false>\n"
     "void load_matrices(u32 (&r)[kMatrices], u32 row) {\n"
     "  emulation::load_matrices<kMatrices, kTransposed>(r, row);\n}\n}\n"},
};
/// Instructions in the remaining headers.
constexpr std::pair<std::string_view, std::string_view> kHostInstructions[] = {
    {"asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x))", "y = exp2f(x)"},
    {"asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x))", "y = tanhf(x)"},
    {"asm volatile(\"shfl.sync.up.b32 %0, %1, %2, 0, -1;\" : \"=r\"(y) : \"r\"(x), "
     "\"r\"(distance))",
     "y = __shfl_up_sync(0xffffffffu, x, distance)"},
    {"asm volatile(\"shfl.sync.bfly.b32 %0, %1, %2, 31, -1;\" : \"=r\"(y) : \"r\"(x), \"r\"(mask))",
     "y = __shfl_xor_sync(0xffffffffu, x, mask)"},
    {"asm volatile(\"redux.sync.max.s32 %0, %1, -1;\" : \"=r\"(most) : \"r\"(key))",
     "most = __reduce_max_sync(0xffffffffu, key)"},
    {"asm volatile(\"redux.sync.min.s32 %0, %1, -1;\" : \"=r\"(least) : \"r\"(key))",
     "least = __reduce_min_sync(0xffffffffu, key)"},
    {"asm(\"div.full.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b))", "y = a / b"},
};

/// What an instruction takes elements of registers for.
std::string element_of(const std::string& type) {
  if (type == "bf16") return "emulation::Bf16";
  if (type == "f16") return "emulation::F16";
  if (type == "tf32") return "float";
  if (type == "f64") return "double";
  return type == "s8" ? "signed char" : "unsigned char";
}

/// Products of tensor cores.
std::string without_products(std::string text) {
  static const std::regex kProduct(
      R"re(asm volatile\("mma\.sync\.aligned\.m\d+n\d+k\d+\.row\.col\.\w+\.(\w+)\.(\w+)\.[^;]*;"[^;]*;)re");
  static const std::regex kName(R"(struct (\w+) \{\s+static constexpr int kM)");
  std::smatch found;
  while (std::regex_search(text, found, kProduct)) {
    // The struct that the instruction stands in.
    std::string name;
    const std::string before = found.prefix();
    for (auto i = std::sregex_iterator(before.begin(), before.end(), kName);
         i != std::sregex_iterator(); ++i) {
      name = (*i)[1];
    }
    const std::string product = "emulation::multiply<" + name + ", " + element_of(found[1]) + ", " +
                                element_of(found[2]) + ">(d, a, b, c);";
    text.replace(static_cast<std::size_t>(found.position()),
                 static_cast<std::size_t>(found.length()), product);
  }
  return text;
}

}  // namespace

void emulate_instructions(operation::Source& source) {
  source.text = without_products(std::move(source.text));
  for (auto& [name, text] : source.headers) {
    for (const auto& [replaced, by] : kHostHeaders) {
      if (name == replaced) text = by;
    }
    for (const auto& [instruction, by] : kHostInstructions) {
      const std::size_t at = text.find(instruction);
      if (at != std::string::npos) text.replace(at, instruction.size(), by);
    }
  }
}

}  // namespace tilejit::test
