#include "matmul/shared_layout.hpp"

#include "atoms/warp_tile.hpp"

namespace tilejit::plan {
namespace {

constexpr int kWideBytes = 16;

int padding(const Matmul& product) noexcept {
  return kWideBytes / size_bytes(product.accumulator);
}

/// Elements of 8 bits are read along K only, and turned on their way.
atoms::Major shared_major(const OperandSource& source) noexcept {
  return size_bytes(source.dtype) == 1 ? atoms::Major::k : source.major;
}

}  // namespace

ComposedLayout shared_layout(const MatmulMma& product, atoms::Operand operand) {
  const bool left = operand == atoms::Operand::a;
  return atoms::warp_tile(product.atom, operand, shared_major(left ? product.a : product.b),
                          left ? product.tile.m : product.tile.n, product.tile.k);
}

ComposedLayout shared_layout(const MatmulSimt& product, atoms::Operand operand) {
  const int rows = operand == atoms::Operand::a ? product.tile.m : product.tile.n;
  return Layout(IntTuple{rows, product.tile.k}, IntTuple{1, rows + padding(product)});
}

int stage_bytes(const Matmul& product, bool by_tensor_cores) noexcept {
  const auto tile = [&](const OperandSource& source, int rows) {
    const int bytes = size_bytes(by_tensor_cores ? source.dtype : product.accumulator);
    return (rows + (by_tensor_cores ? 0 : padding(product))) * product.tile.k * bytes;
  };
  return tile(product.a, product.tile.m) + tile(product.b, product.tile.n);
}

int exchange_bytes(const Matmul& product) noexcept {
  const int bytes = size_bytes(product.accumulator), rows = product.tile.m / product.passes;
  const int line = product.along_m ? rows : product.tile.n,
            lines = product.along_m ? product.tile.n : rows;
  return lines * (line * bytes + (product.along_m ? kWideBytes : 2 * kWideBytes));
}

int passes_of(const Matmul& product, bool by_tensor_cores) noexcept {
  // A pass takes whole instructions of each warp, or whole runs of eight lanes.
  const int least = by_tensor_cores ? 16 : 8 * kWideBytes / size_bytes(product.accumulator);
  const int most = product.tile.m / product.tile.warps_m / least;
  const int room = product.tile.stages * stage_bytes(product, by_tensor_cores);
  Matmul tried = product;
  for (tried.passes = 1; tried.passes < most && exchange_bytes(tried) > room; tried.passes *= 2) {
  }
  return tried.passes;
}

}  // namespace tilejit::plan
