#include "atoms/warp_tile.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

int log2_of(int n) {
  return std::countr_zero(static_cast<unsigned>(n));
}

void check(const MmaAtom& atom, int height, Major major, int rows, int depth, int bytes) {
  if (atom.family != MmaFamily::mma_sync) {
    throw Error(ErrorCode::unsupported,
                to_string(atom) + " reads tiles of its own; use atoms::SharedTile");
  }
  const bool powers = std::has_single_bit(static_cast<unsigned>(rows)) &&
                      std::has_single_bit(static_cast<unsigned>(depth));
  if (powers && rows >= height && depth >= atom.k &&
      (major == Major::k ? depth : rows) * bytes >= 32) {
    return;
  }
  throw Error(
      ErrorCode::invalid_layout,
      fmt::format("a tile of {} x {} is not for {}; use powers of two from {} x {} on, with "
                  "32 contiguous bytes",
                  rows, depth, to_string(atom), height, atom.k));
}

}  // namespace

// A line is what is contiguous. The lanes that read at the same time take one chunk of each of
// several lines: eight chunks of 16 bytes by ldmatrix, four of 32 bytes by plain loads. Bits of the
// line's number are xored onto the chunk's, such that these lie in different banks.
ComposedLayout warp_tile(const MmaAtom& atom, Operand operand, Major major, int rows, int depth) {
  const int bytes = size_bytes(operand == Operand::a ? atom.a : atom.b);
  check(atom, operand == Operand::a ? atom.m : atom.n, major, rows, depth, bytes);
  const bool along_k = major == Major::k;
  const bool by_matrices = along_k ? bytes <= 4 : bytes == 2;
  const int line = along_k ? depth : rows;
  const int chunk = (by_matrices ? 16 : 32) / bytes, lanes = by_matrices ? 8 : 4;
  const int bits = log2_of(std::min(lanes, line / chunk));
  // Lines that lie in the same 128 bytes differ in banks anyway.
  const int together = std::max(1, lanes * chunk / line);
  const Layout plain = along_k ? Layout(IntTuple{rows, depth}, IntTuple{depth, 1})
                               : Layout(IntTuple{rows, depth}, IntTuple{1, rows});
  if (bits == 0) return plain;
  return {Swizzle(bits, log2_of(chunk), log2_of(line) + log2_of(together) - log2_of(chunk)), 0,
          plain};
}

}  // namespace tilejit::atoms
