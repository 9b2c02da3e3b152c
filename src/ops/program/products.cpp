#include "program/products.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "program/distribute.hpp"

namespace tilejit::program {
namespace {

const TileSlot& slot_of(const Code& code, int tile) {
  return code.tiles[static_cast<std::size_t>(tile)];
}

/// Sums of f16 are computed in f32, and rounded once.
bool takes(const atoms::MmaAtom& atom, DType a, DType b, DType out) {
  return atom.family == atoms::MmaFamily::mma_sync && atom.a == a && atom.b == b &&
         atom.c == (out == f16 ? f32 : out);
}

std::optional<atoms::MmaAtom> atom_for(DType a, DType b, DType out, const Target& target) {
  std::optional<atoms::MmaAtom> best;
  for (const atoms::MmaAtom& atom : atoms::mma_atoms()) {
    const bool fits =
        takes(atom, a, b, out) && atoms::support(atom, target) == atoms::Support::native;
    if (fits && (!best || atom.m * atom.n * atom.k > best->m * best->n * best->k)) best = atom;
  }
  return best;
}

bool is_power(std::int64_t value) {
  return std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// Whether threads of other axes than rows would have to exchange values between products: a row
/// reduction, or a product of a product's result.
bool keeps_rows(const Code& code) {
  int products = 0;
  bool reduces = false;
  for_each_step(code.body, [&](const Step& step) {
    products += std::holds_alternative<Gemm>(step.kind) ? 1 : 0;
    if (const auto* const compute = std::get_if<Compute>(&step.kind)) {
      reduces =
          reduces || std::ranges::any_of(compute->value.code.nodes, [](const expr::Node& node) {
            return expr::combines_elements(node.op);
          });
    }
  });
  return products > 1 || reduces;
}

/// Warps as a warp reads the fewest operands; or all along rows.
std::optional<Extents> arrange(const Extents& shape, const atoms::MmaAtom& atom, int warps,
                               bool along_rows) {
  std::optional<Extents> best;
  for (std::int64_t rows = warps; rows >= 1; rows /= 2) {
    const std::int64_t columns = warps / rows;
    const bool fits = rows * columns == warps && shape[0] % (rows * atom.m) == 0 &&
                      shape[1] % (columns * atom.n) == 0;
    if (!fits) continue;
    const Extents made = {rows, columns};
    if (along_rows) return made;
    const auto reads = [&](const Extents& of) { return shape[0] / of[0] + shape[1] / of[1]; };
    if (!best || reads(made) < reads(*best)) best = made;
  }
  return best;
}

/// Layouts whose places the device library can step through.
bool is_regular(const TileSlot& tile) {
  if (!std::ranges::all_of(tile.type.shape, is_power)) return false;
  return !tile.layout || rank(tile.layout->layout()) == tile.type.shape.size();
}

}  // namespace

std::map<const Gemm*, WarpProduct> warp_products(const Code& code, const Target& target,
                                                 int threads) {
  std::map<const Gemm*, WarpProduct> products;
  if (threads % 32 != 0 || !is_power(threads)) return products;
  const bool along_rows = keeps_rows(code);
  for_each_step(code.body, [&](const Step& step) {
    const auto* const gemm = std::get_if<Gemm>(&step.kind);
    if (gemm == nullptr) return;
    const TileSlot& a = slot_of(code, gemm->a);
    const TileSlot& b = slot_of(code, gemm->b);
    const TileSlot& out = slot_of(code, gemm->out);
    const auto atom = atom_for(a.type.dtype, b.type.dtype, out.type.dtype, target);
    if (!atom || !is_regular(a) || !is_regular(b)) return;
    if (a.type.shape[gemm->a_transposed ? 0 : 1] % atom->k != 0) return;
    const auto warps = arrange(out.type.shape, *atom, threads / 32, along_rows);
    if (warps) products.emplace(gemm, WarpProduct{*atom, *warps});
  });
  return products;
}

std::string why_fused(const Code& code, const Gemm& gemm, const Target& target) {
  const DType a = slot_of(code, gemm.a).type.dtype;
  const DType b = slot_of(code, gemm.b).type.dtype;
  const DType out = slot_of(code, gemm.out).type.dtype;
  if (atom_for(a, b, out, target)) {
    return "for tensor cores extents of its tiles are powers of two, of whole instructions for "
           "each "
           "warp, and the block has a power of two of warps";
  }
  const bool elsewhere = std::ranges::any_of(
      atoms::mma_atoms(), [&](const atoms::MmaAtom& atom) { return takes(atom, a, b, out); });
  if (!elsewhere) return {};
  const auto is_f8 = [](DType type) { return type == f8e4m3 || type == f8e5m2; };
  return to_string(target) + " has no mma.sync for " + std::string(to_string(a)) + " by " +
         std::string(to_string(b)) +
         (is_f8(a) || is_f8(b) ? "; for tensor cores cast both tiles to f16, which has all their "
                                 "values"
                               : "; for tensor cores compile for a newer target");
}

Distribution distribution_of(const WarpProduct& product, const Extents& shape,
                             std::int64_t threads) {
  return of_fragments(shape, atoms::layout(product.atom, atoms::Operand::c),
                      {product.atom.m, product.atom.n}, product.warps, threads);
}

}  // namespace tilejit::program
