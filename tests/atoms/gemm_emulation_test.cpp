// gemm_ampere.cu on the CPU: its own text, the library's arithmetic of rows and swizzles, and the
// table's layouts, over copies and matrix loads that behave as the device's.
#include "emulation/device.hpp"
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))

#include "atoms/gemm_ampere.cu"

#include <gtest/gtest.h>

#include <random>

extern "C" {
alignas(512) unsigned char memory[kStages * kStageBytes];
}

namespace {

float value_of(u16 bits) {
  return bits_as<float>(u32{bits} << 16);
}

std::vector<u16> random_matrix(std::size_t count, std::mt19937& random) {
  std::vector<u16> bits(count);
  std::normal_distribution<float> normal;
  for (u16& one : bits) one = static_cast<u16>(bits_as<u32>(normal(random)) >> 16);
  return bits;
}

TEST(GemmEmulation, AgreesWithAPlainProduct) {
  constexpr std::size_t kM = 150, kN = 130, kK = 136;
  std::mt19937 random(5);
  const std::vector<u16> a = random_matrix(kM * kK, random), b = random_matrix(kN * kK, random);
  std::vector<u16> d(kM * kN, 0xffff);
  emulation::Block::grid.x = 4;
  for (unsigned block = 0; block < 4; ++block) {
    emulation::Block::block.x = block;
    std::memset(memory, 0xff, sizeof memory);
    emulation::Cluster(1, kThreads, random, [&] {
      gemm(a.data(), b.data(), d.data(), kM, kN, kK);
    }).run();
    host_copies.clear();
  }
  for (std::size_t m = 0; m < kM; ++m) {
    for (std::size_t n = 0; n < kN; ++n) {
      double want = 0, magnitude = 0;
      for (std::size_t k = 0; k < kK; ++k) {
        const double term = double{value_of(a[m * kK + k])} * double{value_of(b[n * kK + k])};
        want += term;
        magnitude += fabs(term);
      }
      // Sums in f32, then half a unit of bf16.
      const double most = kK * magnitude * 0x1p-24 + (fabs(want) + magnitude * 0x1p-16) * 0x1p-8;
      const double error = fabs(double{value_of(d[m * kN + n])} - want);
      ASSERT_TRUE(error <= most) << "(" << m << "," << n << "): off by " << error;
    }
  }
}

}  // namespace
