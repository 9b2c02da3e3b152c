#include "wgmma/wgmma_plan.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "device/device.hpp"
#include "expr/traits.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

constexpr int kRowBytes = 128;        // of K in a stage
constexpr int kWideBytes = 16;        // of a tensor map's strides
constexpr int kReservedBytes = 1024;  // of each block
constexpr int kMostStages = 12;
constexpr std::size_t kMostBatches = 3;
constexpr std::int64_t kStepsOfGroup = 8;  // of K: tile/operand_along_m.cuh
constexpr std::int64_t kMostExtent = std::int64_t{1} << 31;

std::optional<atoms::MmaAtom> atom_of(DType a, DType b, DType sums, int n,
                                      atoms::ASource source = atoms::ASource::shared) {
  for (const atoms::MmaAtom& atom : atoms::mma_atoms()) {
    if (atom.family == atoms::MmaFamily::wgmma && atom.a == a && atom.b == b && atom.c == sums &&
        atom.n == n && atom.a_source == source) {
      return atom;
    }
  }
  return std::nullopt;
}

bool is_too_long(const Dim& extent) {
  return extent.is_known() && extent.value() >= kMostExtent;
}

/// As many stages as there is shared memory for.
int stages_of(const MatmulWgmma& product, const Target& target) {
  MatmulWgmma one = product;
  one.tile.stages = 1;
  const int sums = sums_bytes(product), each = shared_bytes(one) - sums;
  const int all = device::device_of(target).shared_bytes - kReservedBytes;
  return std::min(kMostStages, (all - sums) / each);
}

/// The space of the product has no elements, or none along K.
bool is_empty(const Plan& plan, const Matmul& product) {
  return product.k.is(0) || std::ranges::any_of(plan.extents, [](const Dim& d) { return d.is(0); });
}

/// Whether the operand that is not shared can lie beside the other product's in shared memory.
bool is_alike(const Matmul& product) {
  const OperandSource &one = product.second->left ? product.a : product.b,
                      &other = product.second->source;
  return one.dtype == other.dtype && one.major == other.major && fault_of_source(other).empty();
}

/// Whether there is shared memory for two stages, and for sums of other blocks.
bool is_possible(const MatmulWgmma& product) {
  const int stages = product.tile.stages;
  return stages >= 2 && split_bytes(product) <= stages * stage_bytes(product);
}

bool is_pinned(const Tuning& tuning, const WgmmaTile& tile, bool along_m) {
  if (tuning.cluster && *tuning.cluster != tile.cluster * tile.beside) return false;
  if (tuning.splits && *tuning.splits != tile.splits) return false;
  if (!tuning.tile) return true;
  const std::array<int, 2> sides =
      along_m ? std::array{tile.m, tile.n} : std::array{tile.n, tile.m};
  return sides == *tuning.tile;
}

/// Whether all rows of the product have the same elements of an operand of the formula.
bool is_alike_in_rows(const Operand& operand) {
  return std::ranges::all_of(operand.modes[1], [](const Mode& leaf) { return leaf.stride.is(0); });
}

}  // namespace

namespace {

/// Whether the formula takes the sums of one product, and nothing that depends on their place.
bool takes_sums_alone(const Plan& plan, const Matmul& product) {
  const auto is_loaded = [&](const Operand& operand) {
    return operand.read && !product.multiplies(operand.tensor);
  };
  return !product.second && product.statistic == expr::kNoNode && plan.places.empty() &&
         std::ranges::none_of(plan.operands, is_loaded);
}

}  // namespace

namespace {

/// The outputs that go by words; nothing if sums have to go through vectors.
std::optional<int> outputs_by_words(const Plan& plan, const Matmul& product, bool along_m) {
  constexpr int kStored = 8, kMost = 2;
  if (product.accumulator != f32 || (along_m && !takes_sums_alone(plan, product)))
    return std::nullopt;
  if (plan.vector != kStored || plan.ragged || plan.peeled) return std::nullopt;
  int words = 0;
  for (const Operand& operand : plan.operands) {
    if (product.reduces_to(operand.tensor)) continue;
    if (operand.reach == Reach::strided || operand.shifted) return std::nullopt;
    if (operand.written) {
      ++words;
      if (operand.read || operand.per_row || size_bytes(operand.dtype) != 2) return std::nullopt;
      if (operand.reach != Reach::contiguous) return std::nullopt;
    }
  }
  return words <= kMost ? std::optional(words) : std::nullopt;
}

}  // namespace

int words_of(const Plan& plan, const Matmul& product, bool along_m) {
  return outputs_by_words(plan, product, along_m).value_or(0);
}

namespace {

/// Whether results can be reduced along N: from sums as they lie in registers, where a warp has
/// whole rows of a tile.
bool reduces_rows(const Plan& plan, const Matmul& product) {
  return !product.along_m && outputs_by_words(plan, product, false) &&
         plan.extents.front().is_known();
}

/// Whether warpgroups can reduce rows of A beside the product (tile/row_statistics.cuh): whole
/// rows of 16-bit elements, in short chains of sums.
bool reads_rows(const Plan& plan, const Matmul& product) {
  constexpr std::int64_t kPerStage = 64, kMost = 200 * kPerStage;
  return product.a.major == atoms::Major::k && size_bytes(product.a.dtype) == 2 &&
         product.k.is_known() && product.k.value() % kPerStage == 0 && product.k.value() <= kMost &&
         !product.along_m && words_of(plan, product, false) > 0 &&
         !(product.second && product.second->left);
}

/// Pairs share the kernel's A, statistics are of its rows, whose results may be reduced, and it may
/// go through registers.
std::optional<bool> swapped_of(const Matmul& product) {
  if (product.second) return product.second->left;
  if (product.statistic != expr::kNoNode || !product.reductions.empty()) return false;
  if (goes_through_registers(product.b)) return true;
  return goes_through_registers(product.a) ? std::optional(false) : std::nullopt;
}

bool fits(const Plan& plan, const Matmul& product) {
  const OperandSource& right = swapped_of(product).value_or(false) ? product.a : product.b;
  if (goes_through_registers(right)) return false;
  if (!has_wgmma(plan.target, product)) return false;
  if (is_empty(plan, product)) return false;
  return std::ranges::none_of(plan.extents, is_too_long) && !is_too_long(product.k) &&
         fault_of_source(product.a).empty() && fault_of_source(product.b).empty() &&
         (!product.second || is_alike(product)) &&
         (product.statistic == expr::kNoNode || reads_rows(plan, product)) &&
         (product.reductions.empty() || reduces_rows(plan, product));
}

/// Rows of the boxes in which blocks that share a tile's rows bring these. Boxes outside are not
/// asked for, and rows outside of one that is not take longer than those inside. But boxes take
/// time, too, and a block may bring one more than the next; in a cluster of rows and columns, each
/// brings one at least (tile/warpgroup_producer.cuh).
int box_rows(const OperandSource& source, const Dim& extent, int tile, int sharing,
             int least_boxes) {
  constexpr std::int64_t kOfRowOutside = 4, kOfBox = 8;  // clocks, about
  constexpr int kStep = 8;                               // rows of a swizzle's pattern
  if (source.major != atoms::Major::k) return 0;
  const std::int64_t last = extent.is_known() ? extent.value() % tile : 0;  // of the last tile
  int best = kStep;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int rows = tile; rows >= kStep; rows -= kStep) {
    if (tile % rows != 0 || tile / rows < least_boxes) continue;
    const int own = (tile / rows + sharing - 1) / sharing;  // boxes
    const std::int64_t outside = (rows - last % rows) % rows;
    const std::int64_t clocks = kOfRowOutside * outside + kOfBox * own + own * rows;
    if (clocks < least) std::tie(least, best) = std::pair(clocks, rows);
  }
  return best;
}

MatmulWgmma made(const Plan& plan, const Matmul& product, const WgmmaTile& tile) {
  MatmulWgmma made;
  static_cast<Matmul&>(made) = product;
  if (tile.swapped) {
    std::swap(made.a, made.b);
    made.along_m = !made.along_m;
  }
  if (made.second) made.second->left = false;  // it stands beside the kernel's B
  made.swapped = tile.swapped;
  made.takes_turns = tile.takes_turns;
  made.atom =
      *atom_of(made.a.dtype, made.b.dtype, made.accumulator, tile.n * made.products(),
               goes_through_registers(made.a) ? atoms::ASource::registers : atoms::ASource::shared);
  made.cluster = tile.cluster;
  made.beside = tile.beside;
  made.tile = {.m = tile.m,
               .n = tile.n,
               .k = kRowBytes / size_bytes(made.a.dtype),
               .warps_m = 4 * tile.consumers};
  made.splits = tile.splits;
  made.passes = 1;
  const bool narrow = made.along_m || tile.consumers == 3 || tile.n <= 32 || made.second;
  made.panel = narrow ? 32 : 64;
  made.words = words_of(plan, made, made.along_m);
  made.alike = std::ranges::all_of(plan.operands, [&](const Operand& operand) {
    return operand.written || made.multiplies(operand.tensor) || is_alike_in_rows(operand);
  });
  if (!made.second) {
    const Dim &m = plan.extents[made.along_m ? 0 : 1], &n = plan.extents[made.along_m ? 1 : 0];
    const bool both = tile.cluster > 1 && tile.beside > 1;
    made.box_rows_a = box_rows(made.a, m, tile.m, tile.beside, both ? tile.beside : 1);
    made.box_rows_b = box_rows(made.b, n, tile.n, tile.cluster, both ? tile.cluster : 1);
  }
  made.tile.stages = stages_of(made, plan.target);
  return made;
}

}  // namespace

bool has_wgmma(const Target& target, const Matmul& product) {
  if (target.number() != 90 || target.feature != 'a') return false;
  // Sums of 8-bit floats keep 14 bits there, which is fewer than formulas promise.
  if (is_floating(product.a.dtype) && size_bytes(product.a.dtype) == 1) return false;
  return atom_of(product.a.dtype, product.b.dtype, product.accumulator, 64).has_value();
}

bool goes_through_registers(const OperandSource& source) noexcept {
  return source.major == atoms::Major::mn && size_bytes(source.dtype) == 4;
}

std::string fault_of_source(const OperandSource& source) {
  const bool along_m = goes_through_registers(source);
  if (source.is_computed() || source.stored != source.dtype) return "is computed on its way";
  if (source.outer.size() != 1 || source.inner.size() != 1)
    return "has modes of modes, or repeats along a mode";
  if (source.run * size_bytes(source.dtype) != kWideBytes)
    return "is not aligned to 16 bytes in every row";
  if (source.major == atoms::Major::mn && size_bytes(source.dtype) == 1)
    return "does not lie along K, as wgmma reads elements of 8 bits";
  if (along_m && (!source.inner.front().extent.is_known() ||
                  source.inner.front().extent.value() % kStepsOfGroup != 0))
    return "does not lie along K, whose extent is not known to be a multiple of 8";
  std::size_t batches = 0;
  for (const std::vector<Mode>& leaves : source.batch) {
    if (leaves.size() > 1) return "has modes of modes";
    batches += leaves.size();
  }
  if (batches > (along_m ? 1 : kMostBatches)) return "has more batches than a tensor map";
  const auto repeats = [](const std::vector<Mode>& leaves) {
    return !leaves.empty() && leaves.front().stride.is(0);
  };
  if (repeats(source.outer) || repeats(source.inner) || std::ranges::any_of(source.batch, repeats))
    return "repeats along a mode";
  return {};
}

namespace {

/// Whether rows do not begin at multiples of 128 bytes.
bool has_split_rows(const OperandSource& source) {
  const std::vector<Mode>& across = source.major == atoms::Major::k ? source.outer : source.inner;
  const auto splits = [&](const Mode& leaf) {
    return leaf.stride.is_known() &&
           leaf.stride.value() * size_bytes(source.dtype) % kRowBytes != 0;
  };
  return std::ranges::any_of(across, splits);
}

/// Whether the formula computes the node from others.
bool is_computed(const expr::Node& node) {
  return node.op != expr::Op::matmul && node.args[0] != expr::kNoNode;
}

}  // namespace

WgmmaProblem problem_of(const Plan& plan, const Matmul& product) {
  const auto known = [](const Dim& dim) {
    return dim.is_known() ? std::optional(dim.value()) : std::nullopt;
  };
  Dim batch = 1;
  for (std::size_t m = 2; m < plan.extents.size(); ++m) batch = batch * plan.extents[m];
  const Dim &m = plan.extents[product.along_m ? 0 : 1], &n = plan.extents[product.along_m ? 1 : 0];
  std::int64_t formula = 0;
  for (const expr::Node& node : plan.program.nodes) {
    if (is_computed(node)) formula += expr::traits(node.op).weight;
  }
  int output_bytes = 0;
  for (const Operand& operand : plan.operands) {
    const bool is_partial = product.reduces_to(operand.tensor);
    if (operand.written && !is_partial) output_bytes += size_bytes(operand.dtype);
  }
  return {.size = {known(m), known(n), known(product.k), known(batch)},
          .element_bytes = size_bytes(product.a.dtype),
          .output_bytes = output_bytes,
          .a = product.a.major,
          .b = product.b.major,
          .a_split = has_split_rows(product.a),
          .b_split = has_split_rows(product.b),
          .formula = formula,
          .integer = product.accumulator == i32,
          .multiple = std::max(8, plan.vector),
          .along_m = product.along_m,
          .through_vectors = !outputs_by_words(plan, product, false),
          .turned_through_vectors = !outputs_by_words(plan, product, true),
          .products = product.products(),
          .statistic = product.statistic != expr::kNoNode,
          .loads_a = goes_through_registers(product.a) || goes_through_registers(product.b),
          .swapped = swapped_of(product),
          .target = plan.target};
}

std::optional<WgmmaChoice> choose_wgmma(const Plan& plan, const Matmul& product,
                                        const Tuning& tuning) {
  if (!fits(plan, product)) return std::nullopt;
  for (const WgmmaTile& tile : ranked_tiles(problem_of(plan, product))) {
    const bool along_m = product.along_m != tile.swapped;
    if (!is_pinned(tuning, tile, along_m)) continue;
    WgmmaChoice choice{made(plan, product, tile), tile.clocks};
    if (is_possible(choice.product)) return choice;
  }
  return std::nullopt;
}

}  // namespace tilejit::plan
