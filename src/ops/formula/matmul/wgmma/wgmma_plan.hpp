#pragma once

#include <optional>

#include "formula/analysis.hpp"
#include "wgmma/tile_choice.hpp"

namespace tilejit::plan {

/// How warpgroups would multiply, and what that takes.
struct WgmmaChoice {
  MatmulWgmma product;
  double clocks = 0;
};

/// `product` has operands, K, the node and along_m. `plan` has its space and vectors. Nothing if
/// the target has no wgmma, if there is none for these types, if tensor maps cannot show the
/// operands, or if `tuning` pins what only other kernels have.
[[nodiscard]] std::optional<WgmmaChoice> choose_wgmma(const Plan& plan, const Matmul& product,
                                                      const Tuning& tuning);

/// The outputs that the formula can make of pairs in registers (MatmulWgmma::words), if vectors of
/// the result lie along M, or else along N.
[[nodiscard]] int words_of(const Plan& plan, const Matmul& product, bool along_m);

/// What the tiles of `product` are chosen for.
[[nodiscard]] WgmmaProblem problem_of(const Plan& plan, const Matmul& product);

/// Whether the target has wgmma for operands and sums of these types.
[[nodiscard]] bool has_wgmma(const Target& target, const Matmul& product);

/// Why tensor maps cannot show an operand as wgmma reads it: "is not aligned to 16 bytes in every
/// row"; empty if they can.
[[nodiscard]] std::string fault_of_source(const OperandSource& source);

/// Whether wgmma reads the operand from registers only, and hence as its A: elements of 32 bits
/// that do not lie along K.
[[nodiscard]] bool goes_through_registers(const OperandSource& source) noexcept;

}  // namespace tilejit::plan
