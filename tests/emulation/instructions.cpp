#include "emulation/instructions.hpp"

#include <string_view>
#include <utility>

namespace tilejit::test {
namespace {

/// Replaces headers that are written in the device's instructions.
constexpr std::pair<const char*, const char*> kReplaced[] = {
    {"tile/wide.cuh",
     "namespace tile {\n"
     "template <class T, class Vector>\n"
     "void store_wide(T* p, const Vector& x) {\n  x.store(p);\n}\n"
     "template <class T, class Vector>\n"
     "void store_wide(T* p, const Vector& x, int valid) {\n  x.store(p, valid);\n}\n}\n"},
    {"tile/cluster.cuh",
     "template <class... T>\nvoid no_cluster(T...) {\n  emulation::fail(\"a cluster\");\n}\n"
     "#define send_to_block no_cluster\n#define expect_bytes no_cluster\n"
     "#define wait_for_bytes no_cluster\n#define init_barrier no_cluster\n"
     "#define cluster_arrive no_cluster\n#define cluster_wait no_cluster\n"
     "#define cluster_sync no_cluster\n"},
    {"tile/f16.cuh",
     "#pragma once\n#include \"tile/packed.cuh\"\nnamespace tile {\n"
     "struct f16 {\n  u16 bits;\n};\n"
     "TILE_DEVICE void assign_bits(f16& x, u32 bits) {\n  x.bits = u16(bits);\n}\n"
     "TILE_DEVICE u32 bits_of(f16 x) {\n  return x.bits;\n}\n"
     "TILE_DEVICE float to_compute(f16 x) {\n  return emulation::half_value(x.bits);\n}\n"
     "template <>\nTILE_DEVICE f16 store_as<f16>(float x) {\n"
     "  return {u16(emulation::half_bits(x))};\n}\n}\n"},
    {"tile/barrier.cuh",
     "#pragma once\n#include \"tile/types.cuh\"\nnamespace tile {\n"
     "TILE_DEVICE u32 shared_address(const void* p) {\n"
     "  return u32(static_cast<const unsigned char*>(p) - emulation::shared_base);\n}\n}\n"},
    {"tile/async_copy.cuh",
     "#pragma once\n#include \"tile/types.cuh\"\nnamespace tile {\n"
     "template <int kBytes>\n"
     "TILE_DEVICE void async_copy_or_zero(u32 to, const void* from, u32 valid) {\n"
     "  emulation::copy_later(to, from, valid, kBytes);\n}\n"
     "TILE_DEVICE void async_copy_commit() {\n  emulation::commit_copies();\n}\n"
     "template <int kPending>\nTILE_DEVICE void async_copy_wait() {\n"
     "  emulation::do_copies(kPending);\n}\n}\n"},
};
/// Instructions in the remaining headers.
constexpr std::pair<std::string_view, std::string_view> kInstructions[] = {
    {"asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x))", "y = exp2f(x)"},
    {"asm volatile(\"shfl.sync.up.b32 %0, %1, %2, 0, -1;\" : \"=r\"(y) : \"r\"(x), "
     "\"r\"(distance))",
     "y = __shfl_up_sync(0xffffffffu, x, distance)"},
    {"asm volatile(\"shfl.sync.bfly.b32 %0, %1, %2, 31, -1;\" : \"=r\"(y) : \"r\"(x), \"r\"(mask))",
     "y = __shfl_xor_sync(0xffffffffu, x, mask)"},
    {"asm volatile(\"activemask.b32 %0;\" : \"=r\"(lanes))", "lanes = 1u << threadIdx.x % 32"},
    {"asm volatile(\"shfl.sync.up.b32 %0, %1, 1, 0, %2;\" : \"=r\"(y) : \"r\"(x), \"r\"(lanes))",
     "y = x"},
    {"asm volatile(\"shfl.sync.down.b32 %0, %1, 1, 31, %2;\" : \"=r\"(y) : \"r\"(x), \"r\"(lanes))",
     "y = x"},
    {"asm volatile(\"redux.sync.max.s32 %0, %1, -1;\" : \"=r\"(most) : \"r\"(key))",
     "most = __reduce_max_sync(0xffffffffu, key)"},
    {"asm volatile(\"redux.sync.min.s32 %0, %1, -1;\" : \"=r\"(least) : \"r\"(key))",
     "least = __reduce_min_sync(0xffffffffu, key)"},
    {"asm(\"div.full.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b))", "y = a / b"},
};

}  // namespace

void emulate_instructions(operation::Source& source) {
  for (auto& [name, text] : source.headers) {
    for (const auto& [replaced, by] : kReplaced) {
      if (name == replaced) text = by;
    }
    for (const auto& [instruction, by] : kInstructions) {
      const std::size_t at = text.find(instruction);
      if (at != std::string::npos) text.replace(at, instruction.size(), by);
    }
  }
}

}  // namespace tilejit::test
