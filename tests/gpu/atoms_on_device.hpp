#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "atoms/mma_atom.hpp"
#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"
#include "tilejit/cuda_kernel.hpp"

namespace tilejit::atoms {

using Bytes = std::vector<unsigned char>;

/// A matrix of values that its type holds exactly, column-major.
struct HostMatrix {
  DType type = f32;
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values = {};

  static HostMatrix random(DType type, std::int64_t rows, std::int64_t columns,
                           std::mt19937& random) {
    HostMatrix made{type, rows, columns, {}};
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      unsigned char bytes[8];
      const double value = is_integer(type)
                               ? static_cast<double>(random() % 256) - (type == u8 ? 0 : 128)
                               : std::normal_distribution<double>()(random);
      encode(type, value, bytes);
      made.values.push_back(decode(type, bytes));
    }
    return made;
  }
  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row + rows * column)];
  }
};

/// Row `row`, column `column` of A * B^T, and the sum of the terms' magnitudes.
struct Sum {
  double value = 0, magnitude = 0;
};
inline Sum product_at(const HostMatrix& a, const HostMatrix& b, std::int64_t row,
                      std::int64_t column) {
  Sum sum;
  for (std::int64_t k = 0; k < a.columns; ++k) {
    const double term = a.at(row, k) * b.at(column, k);
    sum.value += term;
    sum.magnitude += std::abs(term);
  }
  return sum;
}

/// How far a sum of `terms` products may be from the exact one: half a unit in the last place of
/// the accumulator for each term that is added, of which the tensor cores' adders may lose a whole
/// one by truncation; those of 8-bit floats keep 13 bits below the largest term.
inline double bound(const MmaAtom& atom, std::int64_t terms, double magnitude) {
  if (is_integer(atom.a)) return 0;
  const bool short_adder = atom.family == MmaFamily::wgmma && size_bytes(atom.a) == 1;
  const int bits = atom.c == f64 ? 52 : atom.c == f16 ? 10 : short_adder ? 13 : 23;
  return static_cast<double>(terms + 2) * std::ldexp(magnitude, -bits);
}

/// A kernel of ours with a byte tensor each for what it reads and writes.
inline CudaKernel byte_kernel(const std::string& name, const std::string& text) {
  CudaKernel kernel;
  kernel.name = name;
  kernel.tensors = {{"in", u8, "(R):(1)"}, {"out", u8, "(W):(1)", Access::out}};
  kernel.text = text;
  kernel.args = CudaArguments::positional;
  return kernel;
}

class AtomsOnDevice : public test::Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (runtime() != nullptr && runtime()->device().target.major < 8) {
      GTEST_SKIP() << "needs compute capability 8.0";
    }
  }
  static Target target() { return runtime()->device().target; }
  static bool is_hopper() { return support(parse_mma_atom(kWide), target()) == Support::native; }
  static constexpr const char* kWide = "wgmma_m64n128k16_f32_bf16_bf16";

  static Bytes run(CudaKernel kernel, const Bytes& in, std::size_t out_bytes) {
    const Buffer from = test::upload(*runtime(), in);
    const Buffer to = test::upload(*runtime(), Bytes(out_bytes, 0xa5));
    runtime()->compile(kernel).launch(
        nullptr, {from, to},
        {{"R", static_cast<std::int64_t>(in.size())}, {"W", static_cast<std::int64_t>(out_bytes)}});
    return test::download<unsigned char>(to);
  }
};

/// Tests of wgmma.
class WarpgroupsOnDevice : public AtomsOnDevice {
 protected:
  void SetUp() override {
    AtomsOnDevice::SetUp();
    if (runtime() != nullptr && !is_hopper()) GTEST_SKIP() << "no wgmma: needs sm_90a";
  }
};

}  // namespace tilejit::atoms
