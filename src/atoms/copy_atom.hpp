#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/layout.hpp"
#include "tilejit/target.hpp"

namespace tilejit::atoms {

enum class CopyFamily : std::uint8_t {
  ldmatrix,  ///< matrices of 8 rows of 16 bytes, from shared memory to registers of a warp
  stmatrix,  ///< the reverse
  cp_async,  ///< one thread's bytes, from global to shared memory
};

/// An instruction that moves data, as tile/ldmatrix.cuh and tile/async_copy.cuh have it.
struct CopyAtom {
  CopyFamily family = CopyFamily::ldmatrix;
  int count = 1;            ///< matrices, 1, 2 or 4; of cp_async bytes, 4, 8 or 16
  bool transposed = false;  ///< matrices of 16-bit elements, transposed on the way
  bool zero_fills = false;  ///< cp_async: with the number of bytes to read
  bool operator==(const CopyAtom&) const = default;
};

/// All of them; static storage. Thread-safe, as are the functions below, which are pure.
[[nodiscard]] const std::vector<CopyAtom>& copy_atoms();
/// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
[[nodiscard]] std::string instruction(const CopyAtom& atom);
[[nodiscard]] bool has(const Target& target, const CopyAtom& atom) noexcept;
/// Throws Error{unsupported}, which says who has the instruction, if the target has none.
void require(const CopyAtom& atom, const Target& target);
/// Threads that execute the instruction together: 32 or 1.
[[nodiscard]] int threads(const CopyAtom& atom) noexcept;

/// (thread, value) -> bit of what is moved; a value is one bit. In memory, a matrix is 8 rows of
/// 128 bits, and threads of stride 0 only repeat addresses.
struct CopyLayouts {
  Layout memory;
  Layout registers;
};
[[nodiscard]] CopyLayouts layouts(const CopyAtom& atom);

}  // namespace tilejit::atoms
