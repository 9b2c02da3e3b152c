#include "matmul/product_plan.hpp"

#include <algorithm>
#include <limits>

#include "device/warpgroup_costs.hpp"
#include "matmul/product_space.hpp"
#include "matmul/shared_layout.hpp"
#include "plan/params.hpp"
#include "plan/parts.hpp"
#include "plan/vectors.hpp"
#include "tilejit/error.hpp"
#include "wgmma/wgmma_plan.hpp"

namespace tilejit::plan {
namespace {

constexpr int kWideBytes = 16;
constexpr double kOfSingleElements = 2.5, kOfShortRuns = 1.2;  // times as many clocks
constexpr double kMostOfLight = 0x1p40;  // multiply-adds: below a second without tensor cores

/// The instruction for operands of these types, if the target multiplies them on tensor cores.
std::optional<atoms::MmaAtom> atom_for(const Target& target, DType a, DType b) {
  const atoms::MmaAtom* best = nullptr;
  const auto work = [](const atoms::MmaAtom& atom) { return atom.m * atom.n * atom.k; };
  for (const atoms::MmaAtom& atom : atoms::mma_atoms()) {
    const bool sums = atom.c == (is_floating(a) && a != f64 ? f32 : a == f64 ? f64 : i32);
    if (atom.family != atoms::MmaFamily::mma_sync || atom.a != a || atom.b != b || !sums) continue;
    // The assembler makes 8-bit products of conversions and f16 products where there are no others.
    const atoms::Support support = atoms::support(atom, target);
    const bool bytes = is_floating(a) && size_bytes(a) == 1;
    if (support == atoms::Support::none || (support == atoms::Support::emulated && !bytes))
      continue;
    if (a == f64 && atom.k > 4) continue;  // longer ones are no faster, and take registers
    if (best == nullptr || work(atom) > work(*best)) best = &atom;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::optional<std::int64_t> known(const Dim& dim) {
  return dim.is_known() ? std::optional(dim.value()) : std::nullopt;
}

void refuse(const char* knob, const std::string& of = "products of matrices") {
  throw Error(ErrorCode::invalid_spec, std::string(knob) + " says nothing of " + of + "; remove it",
              std::string("/tuning/") + knob);
}

void check(const Tuning& tuning) {
  if (tuning.threads) refuse("threads");
  if (tuning.unroll) refuse("unroll");
  if (tuning.tv) refuse("tv");
  if (tuning.row_threads) refuse("row_threads");
  if (tuning.register_vectors) refuse("register_vectors");
}

class ProductPlanner {
 public:
  ProductPlanner(const Fused& op, const formula::Analysis& analysis, const Target& target)
      : op_(op), analysis_(analysis), product_(formula::product_of(op, analysis)) {
    plan_.target = target;
    plan_.program = analysis.program;
  }

  Plan run() {
    check(op_.tuning);
    begin();
    const auto atom = atom_for(plan_.target, product_.a.dtype, product_.b.dtype);
    const auto wgmma = choose_wgmma(plan_, operands(), op_.tuning);
    if (op_.tuning.cluster && !wgmma) {
      refuse("cluster",
             "products that single warps multiply, as this one for " + to_string(plan_.target));
    }
    const bool by_warpgroups_only =
        product_.second || product_.statistic != expr::kNoNode || !product_.reductions.empty();
    if (wgmma && (by_warpgroups_only || !(atom && warps_are_faster(*atom, wgmma->clocks)))) {
      plan_.family = wgmma->product;
      if (wgmma->product.by_words()) plan_.vector = 2;
    } else if (atom) {
      plan_.family = MatmulMma{common(tensor_core_shapes(*atom, plan_.target), true), *atom};
    } else {
      plan_.family = MatmulSimt{common(simt_shapes(product_.accumulator), false)};
    }
    return finish();
  }

  double clocks() {
    begin();
    const auto atom = atom_for(plan_.target, product_.a.dtype, product_.b.dtype);
    const auto wgmma = choose_wgmma(plan_, operands(), op_.tuning);
    if (wgmma) return atom ? std::min(wgmma->clocks, clocks_of_warps(*atom)) : wgmma->clocks;
    if (atom) return clocks_of_warps(*atom, slower_by_short_runs());
    return choose_tile(simt_shapes(product_.accumulator), size(), op_.tuning.splits).clocks;
  }

  bool pays_as_pair() {
    begin();
    const Matmul pair = operands();
    const auto wgmma = choose_wgmma(plan_, pair, op_.tuning);
    if (!wgmma) return false;
    if (op_.tuning.tile || op_.tuning.cluster) return true;
    Matmul one = pair;
    one.second.reset();
    const auto alone = choose_wgmma(plan_, one, op_.tuning);
    if (!alone) return true;
    // The sums of one product go through memory and back.
    WgmmaProblem sums = problem_of(plan_, one);
    sums.size.k = 0;
    sums.output_bytes = 2 * size_bytes(pair.accumulator);
    return wgmma->clocks < 2 * alone->clocks + memory_clocks(sums);
  }

  bool pays_with_statistic() {
    begin();
    const Matmul whole = operands();
    const auto wgmma = choose_wgmma(plan_, whole, op_.tuning);
    if (!wgmma) return false;
    if (op_.tuning.tile || op_.tuning.cluster) return true;
    Matmul without = whole;
    without.statistic = expr::kNoNode;
    const auto alone = choose_wgmma(plan_, without, op_.tuning);
    // A kernel of its own reads the rows from memory.
    WgmmaProblem rows = problem_of(plan_, without);
    rows.size.n = 0;
    return wgmma->clocks <
           alone->clocks + device::WarpgroupCosts().launch_of_copy + memory_clocks(rows);
  }

  std::optional<ReducedProduct> reduced() {
    begin();
    const auto wgmma = choose_wgmma(plan_, operands(), op_.tuning);
    if (!wgmma) return std::nullopt;
    return ReducedProduct{.columns = wgmma->product.tile.n, .clocks = wgmma->clocks};
  }

  std::optional<Plan> run_light() {
    const ProductSize size = this->size();
    const double products =
        static_cast<double>(size.m.value_or(1)) * static_cast<double>(size.n.value_or(1)) *
        static_cast<double>(size.k.value_or(1)) * static_cast<double>(size.batch.value_or(1));
    if (products > kMostOfLight) return std::nullopt;
    begin();
    plan_.family = MatmulSimt{light()};
    return finish();
  }

 private:
  void begin() {
    leader_ = static_cast<std::size_t>(analysis_.program.stores.front().tensor);
    plan_.kernel_name = kernel_name_of(op_, leader_);
    plan_.signature = signature_of(op_, analysis_);
    along_m_ = set_space_of_product(op_, analysis_, leader_, plan_);
    plan_.family = MatmulSimt{};  // vectors are those of tiles
    choose_vector(op_, analysis_, std::nullopt, false, plan_);
    if (!product_.reductions.empty()) set_vector_of_reductions();
  }

  /// Partial results decide nothing. Without other outputs, sums are taken as if there were one.
  void set_vector_of_reductions() {
    constexpr int kStored = 8;
    for (const formula::RowReduction& one : product_.reductions)
      plan_.operands[static_cast<std::size_t>(one.tensor)].per_row = true;
    const bool others = std::ranges::any_of(
        plan_.operands, [](const Operand& o) { return o.written && !o.per_row; });
    if (others) return;
    plan_.vector = kStored;
    plan_.ragged = formula::divisor(plan_.extents.front(), analysis_.symbols) % kStored != 0;
  }

  Plan finish() {
    std::visit([&](auto& family) { family.choose_launch(plan_, op_.tuning); }, plan_.family);
    set_sources(*matmul_of(plan_));
    plan_.params = params_of(op_, plan_);
    plan_.params_bytes = operation::struct_bytes(plan_.params);
    return std::move(plan_);
  }

  void set_sources(const Matmul& product) {
    for (const auto& [operand, source] :
         {std::pair(&plan_.operands[is_swapped() ? 1 : 0], &product.a),
          std::pair(&plan_.operands[is_swapped() ? 0 : 1], &product.b)}) {
      operand->reach = Reach::product;
      operand->access_bytes = source->run * size_bytes(source->stored);
    }
    if (!product.second) return;
    Operand& own = plan_.operands[static_cast<std::size_t>(product.second->tensor)];
    own.reach = Reach::product;
    own.access_bytes = product.second->source.run * size_bytes(product.second->source.stored);
  }

  [[nodiscard]] bool is_swapped() const {
    const auto* const wgmma = std::get_if<MatmulWgmma>(&plan_.family);
    return wgmma != nullptr && wgmma->swapped;
  }

  [[nodiscard]] Matmul operands() const {
    return {.a = source(product_.a),
            .b = source(product_.b),
            .k = product_.k,
            .accumulator = product_.accumulator,
            .node = product_.node,
            .along_m = along_m_,
            .second = second(),
            .statistic = product_.statistic,
            .reductions = product_.reductions};
  }
  [[nodiscard]] std::optional<SecondSource> second() const {
    if (!product_.second) return std::nullopt;
    const formula::SecondProduct& own = *product_.second;
    return SecondSource{.source = source(own.operand),
                        .tensor = own.operand.tensor,
                        .left = own.left,
                        .node = own.node};
  }

  [[nodiscard]] Matmul light() const {
    Matmul product = operands();
    product.tile = kLightTile;
    limit_run(product.a, product.tile.m, false, product);
    limit_run(product.b, product.tile.n, false, product);
    product.passes = passes_of(product, false);
    return product;
  }

  /// Those among which the tile is chosen.
  [[nodiscard]] std::vector<ShapeOfClass> tried_of(std::span<const ShapeOfClass> shapes) const {
    std::vector<ShapeOfClass> tried(shapes.begin(), shapes.end());
    if (op_.tuning.tile)
      std::erase_if(tried, [&](const ShapeOfClass& one) { return !has_sides(one); });
    return tried;
  }

  /// Whether the tensor cores of warps take fewer clocks than those.
  [[nodiscard]] bool warps_are_faster(const atoms::MmaAtom& atom, double clocks) const {
    return !op_.tuning.cluster && clocks_of_warps(atom) < clocks;
  }
  /// Infinite if they have no such tile. Products take `slower` times as long as at their best.
  [[nodiscard]] double clocks_of_warps(const atoms::MmaAtom& atom, double slower = 1) const {
    const std::vector<ShapeOfClass> tried = tried_of(tensor_core_shapes(atom, plan_.target));
    if (tried.empty()) return std::numeric_limits<double>::infinity();
    const TileChoice tile = choose_tile(tried, size(), op_.tuning.splits);
    const double memory = memory_clocks(problem_of(plan_, operands()));
    const device::WarpgroupCosts costs;
    const double multiplying = tile.clocks * slower * (tile.splits > 1 ? costs.split_of_warps : 1);
    return costs.launch_of_warps + std::max(multiplying, memory * costs.memory_of_warps);
  }
  /// What copies of few bytes cost the tensor cores of warps (docs/performance.md).
  [[nodiscard]] double slower_by_short_runs() const {
    const Matmul product = operands();
    const auto bytes = [](const OperandSource& source) {
      return source.run * size_bytes(source.stored);
    };
    const int least = std::min(bytes(product.a), bytes(product.b));
    return least < 4 ? kOfSingleElements : least < kWideBytes ? kOfShortRuns : 1;
  }

  [[nodiscard]] Matmul common(std::span<const ShapeOfClass> shapes, bool by_tensor_cores) const {
    Matmul product = operands();
    const std::vector<ShapeOfClass> tried = tried_of(shapes);
    if (tried.empty()) refuse_tile(shapes);
    const TileChoice choice = choose_tile(tried, size(), op_.tuning.splits);
    product.splits = choice.splits;
    product.tile = choice.shape;
    product.tile =
        fit(product.tile, plan_.target, stage_bytes(product, by_tensor_cores) / product.tile.k);
    limit_run(product.a, product.tile.m, by_tensor_cores, product);
    limit_run(product.b, product.tile.n, by_tensor_cores, product);
    // Places and guards of many small copies take registers.
    const bool small = is_small(product.a) || is_small(product.b);
    if (small && (by_tensor_cores || !is_whole(product))) {
      product.tile.blocks = std::max(1, product.tile.blocks - 1);
    }
    product.passes = passes_of(product, by_tensor_cores);
    return product;
  }

  [[nodiscard]] static bool is_small(const OperandSource& source) {
    return source.run * size_bytes(source.stored) < kWideBytes;
  }
  /// Whether every tile has all of its elements.
  [[nodiscard]] bool is_whole(const Matmul& product) const {
    const auto divides = [](const Dim& extent, int tile) {
      return extent.is_known() && extent.value() % tile == 0;
    };
    return divides(product_.m, product.tile.m) && divides(product_.n, product.tile.n) &&
           divides(product_.k, product.tile.k);
  }

  [[nodiscard]] bool has_sides(const ShapeOfClass& one) const {
    const std::array<int, 2>& tile = *op_.tuning.tile;
    return one.shape.m == tile[along_m_ ? 0 : 1] && one.shape.n == tile[along_m_ ? 1 : 0];
  }
  [[noreturn]] void refuse_tile(std::span<const ShapeOfClass> shapes) const {
    std::string all;
    for (const ShapeOfClass& one : shapes) {
      all += (all.empty() ? "" : ", ") + std::to_string(along_m_ ? one.shape.m : one.shape.n) +
             " by " + std::to_string(along_m_ ? one.shape.n : one.shape.m);
    }
    throw Error(ErrorCode::invalid_spec, "no such tile for a product of these types; use " + all,
                "/tuning/tile");
  }

  [[nodiscard]] ProductSize size() const {
    Dim batch = 1;
    for (const Dim& extent : product_.batch) batch = batch * extent;
    ProductSize size{known(product_.m), known(product_.n), known(product_.k), known(batch)};
    if (op_.tuning.splits && (!size.m || !size.n || !size.batch) && *op_.tuning.splits > 1) {
      throw Error(ErrorCode::invalid_spec,
                  "blocks share tiles of a product only if its extents are numbers; give these, or "
                  "remove splits",
                  "/tuning/splits");
    }
    return size;
  }

  [[nodiscard]] OperandSource source(const formula::ProductOperand& operand) const {
    const Tensor& tensor = op_.tensors[static_cast<std::size_t>(operand.tensor)];
    return source_of(operand, tensor.align, analysis_.symbols);
  }

  /// Each thread has a run, so that runs are no longer than a tile has for all threads. Without
  /// tensor cores, elements that need no conversion are turned on their way one by one.
  static void limit_run(OperandSource& source, int rows, bool by_tensor_cores,
                        const Matmul& product) {
    source.run = std::min(source.run, rows * product.tile.k / product.tile.threads());
    const bool turns =
        !by_tensor_cores && source.dtype == product.accumulator && !source.is_computed();
    if (turns && source.major == atoms::Major::k) source.run = 1;
  }

  const Fused& op_;
  const formula::Analysis& analysis_;
  formula::Product product_;
  std::size_t leader_ = 0;
  bool along_m_ = false;
  Plan plan_;
};

}  // namespace

Plan plan_product(const Fused& op, const formula::Analysis& analysis, const Target& target) {
  return ProductPlanner(op, analysis, target).run();
}

double product_clocks(const Fused& op, const formula::Analysis& analysis, const Target& target) {
  return ProductPlanner(op, analysis, target).clocks();
}

bool pays_with_statistic(const Fused& op, const formula::Analysis& analysis, const Target& target) {
  return ProductPlanner(op, analysis, target).pays_with_statistic();
}

bool pays_as_pair(const Fused& op, const formula::Analysis& analysis, const Target& target) {
  return ProductPlanner(op, analysis, target).pays_as_pair();
}

std::optional<ReducedProduct> reduced_product(const Fused& op, const formula::Analysis& analysis,
                                              const Target& target) {
  return ProductPlanner(op, analysis, target).reduced();
}

std::optional<Plan> plan_light_product(const Fused& op, const formula::Analysis& analysis,
                                       const Target& target) {
  Fused untuned = op;
  untuned.tuning = {};
  return ProductPlanner(untuned, analysis, target).run_light();
}

}  // namespace tilejit::plan
