#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "atoms/mma_atom.hpp"
#include "program/code.hpp"
#include "program/distribution.hpp"
#include "tilejit/target.hpp"

namespace tilejit::program {

/// How a product is done by tensor cores.
struct WarpProduct {
  atoms::MmaAtom atom = {};
  Extents warps = {};  ///< along m and n
  bool operator==(const WarpProduct&) const = default;
};

/// How each product of the program is done; products that are not in it are done by fused
/// multiply-adds: types without an instruction on the target, tiles that do not hold whole
/// instructions for each warp or whose extents are no powers of two.
[[nodiscard]] std::map<const Gemm*, WarpProduct> warp_products(const Code& code,
                                                               const Target& target, int threads);
/// Why a product that is done by fused multiply-adds is not done by tensor cores, and what to do.
/// Empty for types that no tensor core takes.
[[nodiscard]] std::string why_fused(const Code& code, const Gemm& gemm, const Target& target);
/// The distribution of its sums.
[[nodiscard]] Distribution distribution_of(const WarpProduct& product, const Extents& shape,
                                           std::int64_t threads);

}  // namespace tilejit::program
