// A tensor-core product for the CPU: the lanes of a warp put their registers together, by the
// layouts of the table.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "atoms/mma_atom.hpp"
#include "emulation/device.hpp"

struct Mma {
  static constexpr int kM = 16, kN = 8, kK = 16, kA = 4, kB = 2, kC = 4;

  static void fma(float (&d)[kC], const std::uint32_t (&a)[kA], const std::uint32_t (&b)[kB],
                  const float (&c)[kC]) {
    struct Operands {
      std::array<float, kM * kK> a;
      std::array<float, kN * kK> b;
    };
    static std::array<Operands, 32> of_warps;
    emulation::Cluster& cluster = *emulation::Cluster::running;
    const auto lane = static_cast<std::int64_t>(cluster.current() % 32);
    auto& [all_a, all_b] = of_warps[cluster.current() / 32];
    put(all_a, layouts().a, lane, a);
    put(all_b, layouts().b, lane, b);
    cluster.meet_warp();
    for (int i = 0; i < kC; ++i) {
      const auto row = static_cast<std::size_t>(row_c(static_cast<int>(lane), i)),
                 column = static_cast<std::size_t>(column_c(static_cast<int>(lane), i));
      float sum = c[i];
      for (std::size_t k = 0; k < kK; ++k) sum += all_a[row + kM * k] * all_b[column + kN * k];
      d[i] = sum;
    }
    cluster.meet_warp();
  }
  static int row_c(int lane, int value) { return static_cast<int>(layouts().c.row({lane, value})); }
  static int column_c(int lane, int value) {
    return static_cast<int>(layouts().c.column({lane, value}));
  }

 private:
  struct Layouts {
    tilejit::Layout a, b;
    tilejit::atoms::ElementLayouts c;
  };
  static const Layouts& layouts() {
    using namespace tilejit::atoms;
    static const MmaAtom atom = parse_mma_atom("mma_m16n8k16_f32_bf16_bf16");
    static const Layouts all = {layout(atom, Operand::a), layout(atom, Operand::b),
                                element_layouts(atom, Operand::c)};
    return all;
  }
  template <std::size_t kSize, std::size_t kRegisters>
  static void put(std::array<float, kSize>& matrix, const tilejit::Layout& tv, std::int64_t lane,
                  const std::uint32_t (&r)[kRegisters]) {
    for (std::size_t v = 0; v < 2 * kRegisters; ++v) {
      const std::uint32_t bits = (r[v / 2] >> (16 * (v % 2))) << 16;
      std::memcpy(&matrix[static_cast<std::size_t>(tv({lane, static_cast<std::int64_t>(v)}))],
                  &bits, 4);
    }
  }
};
