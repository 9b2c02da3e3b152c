#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/dtype.hpp"
#include "tilejit/layout.hpp"
#include "tilejit/target.hpp"

// The one table of tensor-core instructions: which there are, which target has them, how their
// operands are spread over threads and registers, and their text. Kernels, planners, tests and
// docs/atoms.md all take it from here. All functions are pure and thread-safe.

namespace tilejit::atoms {

enum class MmaFamily : std::uint8_t {
  mma_sync,  ///< by one warp, operands in registers
  wgmma,     ///< by a warpgroup of 128 threads, B in shared memory, asynchronous
};

/// Where wgmma reads A. mma.sync has all operands in registers.
enum class ASource : std::uint8_t { registers, shared };

enum class Operand : std::uint8_t { a, b, c };

/// An instruction D = A * B + C. A is (M,K), B is (N,K), C and D are (M,N), in elements; D has C's
/// type, and the same layout.
struct MmaAtom {
  MmaFamily family = MmaFamily::mma_sync;
  int m = 0, n = 0, k = 0;
  DType a = f16, b = f16, c = f32;
  ASource a_source = ASource::registers;
  bool operator==(const MmaAtom&) const = default;
};

/// How a target executes an instruction.
enum class Support : std::uint8_t {
  none,      ///< the assembler refuses it
  emulated,  ///< by other instructions: smaller or larger ones, or after conversions. Not planned.
  native,
};

/// What one thread holds of an operand.
struct Registers {
  std::string_view type;  ///< of PTX: "b32" (packed, low bits first), "f32", "f64"; "b64" is the
                          ///< descriptor of an operand in shared memory
  int count = 0;
  bool operator==(const Registers&) const = default;
};

/// All of them; static storage.
[[nodiscard]] const std::vector<MmaAtom>& mma_atoms();

/// "mma_m16n8k16_f32_bf16_bf16": the family, the shape, and the types of C, A and B; wgmma with A
/// in registers ends in "_rs". Also an identifier of CUDA text.
[[nodiscard]] std::string to_string(const MmaAtom& atom);
/// The inverse. Throws Error{unsupported} for what is not in the table.
[[nodiscard]] MmaAtom parse_mma_atom(std::string_view text);

[[nodiscard]] Support support(const MmaAtom& atom, const Target& target) noexcept;
/// Throws Error{unsupported}, which says who has the instruction, if the target has none.
void require(const MmaAtom& atom, const Target& target);
/// "sm_80 and later", "sm_90a": who has the instruction.
[[nodiscard]] std::string targets_text(const MmaAtom& atom);

/// Threads that execute the instruction together: 32 or 128.
[[nodiscard]] int threads(const MmaAtom& atom) noexcept;
[[nodiscard]] Registers registers(const MmaAtom& atom, Operand operand) noexcept;
[[nodiscard]] bool in_shared_memory(const MmaAtom& atom, Operand operand) noexcept;
/// The thread-value layout: (thread, value) -> m + M*k of A, n + N*k of B, m + M*n of C and D.
/// Values are in the order of registers, and inside one from its low bits. An operand in shared
/// memory is seen by every thread as a whole, (128,(M,K)):(0,(1,M)).
[[nodiscard]] Layout layout(const MmaAtom& atom, Operand operand);
/// The same in two: (thread, value) -> row, which is m of A and C and n of B; and column, which is
/// k of A and B and n of C. layout == row + rows * column.
struct ElementLayouts {
  Layout row, column;
};
[[nodiscard]] ElementLayouts element_layouts(const MmaAtom& atom, Operand operand);

/// "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
[[nodiscard]] std::string instruction(const MmaAtom& atom);

}  // namespace tilejit::atoms
