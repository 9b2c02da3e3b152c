#include "attention/attention_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "attention/score_program.hpp"
#include "attention/warp_shape.hpp"
#include "device/device.hpp"
#include "formula/product.hpp"
#include "matmul/product_plan.hpp"
#include "plan/iteration.hpp"
#include "plan/params.hpp"
#include "plan/parts.hpp"
#include "tilejit/error.hpp"
#include "wgmma/wgmma_plan.hpp"

namespace tilejit::plan {
namespace {

constexpr int kRows = 64, kKeys = 128, kStages = 2, kMostStages = 3, kReservedBytes = 1024;
/// Up to so many columns three warpgroups multiply instead of two, if they have registers for it:
/// exponentials take as long as products.
constexpr std::int64_t kFewColumns = 64;
constexpr std::int64_t kMostColumns = 128, kMostExtent = std::int64_t{1} << 31;
constexpr std::size_t kMostBatches = 3;
constexpr int kOfWords = 8;

atoms::MmaAtom wgmma_of(DType type, int n, atoms::ASource source) {
  return {.family = atoms::MmaFamily::wgmma,
          .m = 64,
          .n = n,
          .k = 16,
          .a = type,
          .b = type,
          .c = f32,
          .a_source = source};
}

/// "q is not aligned to 16 bytes in every row"; empty if whole rows can be copied.
std::string fault_of(const std::string& name, const OperandSource& source, atoms::Major major) {
  OperandSource matrix = source;
  matrix.batch.clear();
  std::string fault = fault_of_source(matrix);
  if (fault.empty() && source.major != major) fault = "is not contiguous along the head dimension";
  return fault.empty() ? fault : name + " " + fault;
}

/// Whether a tensor map has a mode for each batch that does not repeat.
bool has_few_batches(const OperandSource& source) {
  std::size_t batches = 0;
  for (const std::vector<Mode>& leaves : source.batch) {
    for (const Mode& leaf : leaves) batches += !leaf.stride.is(0);
  }
  return batches <= kMostBatches;
}

bool is_short(const Dim& extent, std::int64_t most) {
  return extent.is_known() && extent.value() > 0 && extent.value() <= most;
}

void refuse(const char* knob, const std::string& use) {
  throw Error(ErrorCode::invalid_spec,
              "no kernel of attention has that; " + use + ", or remove " + knob,
              std::string("/tuning/") + knob);
}

class AttentionPlanner {
 public:
  AttentionPlanner(const formula::Analysis& analysis, const formula::AttentionSearch& search,
                   const Target& target, const Tuning& tuning)
      : attention_(*search.found),
        scores_(analysis.steps[attention_.scores]),
        weights_(search.weights),
        values_(analysis.steps[attention_.values]),
        of_scores_(formula::product_of(scores_.op, scores_.analysis)),
        of_values_(formula::product_of(values_.op, values_.analysis)),
        target_(target),
        tuning_(tuning) {}

  AttentionPlan run() {
    product_.a = source(scores_, of_scores_.a);
    product_.b = source(values_, of_values_.b);
    of_weights_.keys = source(scores_, of_scores_.b);
    AttentionPlan made;
    made.why_not = refusal();
    if (!made.why_not.empty()) return made;
    check_knobs();
    plan_ = plan_product(values_.op, values_.analysis, target_);
    describe();
    const bool by_warpgroups = this->by_warpgroups();
    if (by_warpgroups) choose_wgmma();
    join(made);
    if (!by_warpgroups) choose_mma();
    finish();
    made.analysis = std::move(analysis_);
    made.plan = std::move(plan_);
    return made;
  }

 private:
  [[nodiscard]] static OperandSource source(const formula::Step& step,
                                            const formula::ProductOperand& operand) {
    const Tensor& tensor = step.op.tensors[static_cast<std::size_t>(operand.tensor)];
    return source_of(operand, tensor.align, step.analysis.symbols);
  }

  [[nodiscard]] std::string refusal() const {
    if (target_.number() < 80) return "only sm_80 and later have a kernel for it";
    const DType type = product_.a.dtype;
    const bool alike = of_weights_.keys.dtype == type && product_.b.dtype == type &&
                       values_.op.tensors[0].dtype == type;
    if (!alike || (type != f16 && type != bf16))
      return "q, k, v and the weights are not all f16 or all bf16";
    if (!is_short(of_scores_.k, kMostColumns) || !is_short(of_values_.n, kMostColumns))
      return "a head has more than 128 columns, or columns that are not known";
    for (const Dim& extent : weights_.analysis.shape) {
      if (extent.is_known() && (extent.value() >= kMostExtent || extent.value() == 0))
        return "there are no elements, or 2^31 of them along an axis";
    }
    for (const auto& fault : {fault_of("q", product_.a, atoms::Major::k),
                              fault_of("k", of_weights_.keys, atoms::Major::k),
                              fault_of("v", product_.b, atoms::Major::mn)}) {
      if (!fault.empty()) return fault;
    }
    if (replaces_input()) return "an output replaces an input";
    return {};
  }

  [[nodiscard]] bool replaces_input() const {
    const auto reads = [](const formula::Step& step, int number) {
      for (std::size_t t = 0; t < step.tensors.size(); ++t) {
        if (step.tensors[t] == number && step.analysis.access[t] != Access::out) return true;
      }
      return false;
    };
    const auto writes_what_is_read = [&](const formula::Step& step) {
      for (std::size_t t = 0; t < step.tensors.size(); ++t) {
        const int number = step.tensors[t];
        if (step.analysis.access[t] == Access::in || number == values_.tensors[0]) continue;
        const bool is_own = &step == &values_ && number != values_.tensors[1];
        if (reads(scores_, number) || reads(weights_, number) ||
            (reads(values_, number) && !is_own))
          return true;
      }
      return false;
    };
    return writes_what_is_read(values_) || writes_what_is_read(weights_);
  }

  /// What both families take over from the product of weights and values.
  void describe() {
    const Matmul& product = *matmul_of(plan_);
    const auto* const by_warpgroups = std::get_if<MatmulWgmma>(&plan_.family);
    const bool is_swapped = by_warpgroups != nullptr && by_warpgroups->swapped;
    product_.k = product.k;
    product_.accumulator = f32;
    product_.node = product.node;
    product_.along_m = product.along_m != is_swapped;
    if (by_warpgroups != nullptr && by_warpgroups->words > 0) plan_.vector = kOfWords;
    of_weights_.depth = of_scores_.k;
    of_weights_.scores.attention = attention_;
  }

  /// Whether scores read tensors along the keys, or rows have other results: these take registers.
  [[nodiscard]] bool has_tensors_of_keys() const {
    const auto modes = modes_of_scores();
    for (std::size_t t = 0; t < weights_.op.tensors.size(); ++t) {
      const int source = static_cast<int>(t);
      if (source == attention_.products || source == attention_.result) continue;
      if (weights_.analysis.access[t] == Access::out) return true;
      for (const Mode& leaf : modes.front().operands[t]) {
        if (!leaf.stride.is(0)) return true;
      }
    }
    return false;
  }

  /// The space of scores, the keys first.
  [[nodiscard]] std::vector<IterationMode> modes_of_scores() const {
    std::vector<std::size_t> axes(weights_.analysis.shape.size());
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
    return iterate_by_axis(weights_.op, weights_.analysis, axes);
  }

  /// Warpgroups that multiply.
  [[nodiscard]] int consumers() const {
    const Dim& queries = plan_.extents[product_.along_m ? 0 : 1];
    const bool is_narrow =
        of_values_.n.value() <= kFewColumns && of_scores_.k.value() <= kFewColumns;
    const bool is_short = queries.is_known() && queries.value() <= 2 * kRows;
    const bool is_ragged = product_.k.is_known() && product_.k.value() % kKeys != 0;
    const bool has_room = !is_ragged && !has_tensors_of_keys();  // in registers
    return is_narrow && !is_short && has_room ? 3 : 2;
  }

  /// Whether tensor maps show the operands, and the caller does not ask for the other family.
  [[nodiscard]] bool by_warpgroups() const {
    if (target_.number() != 90 || target_.feature != 'a') return false;
    if (tuning_.threads && *tuning_.threads != 128 * (consumers() + 1)) return false;
    if (tuning_.tile && (*tuning_.tile)[product_.along_m ? 0 : 1] != kRows * consumers())
      return false;
    return has_few_batches(product_.a) && has_few_batches(of_weights_.keys) &&
           has_few_batches(product_.b);
  }

  void choose_wgmma() {
    AttentionWgmma family;
    static_cast<Matmul&>(family) = product_;
    static_cast<Weights&>(family) = of_weights_;
    const int columns = static_cast<int>(of_values_.n.value());
    family.tile = {.m = kRows * consumers(),
                   .n = (columns + 7) / 8 * 8,
                   .k = kKeys,
                   .warps_m = 4 * consumers()};
    family.tile.stages = kStages;
    family.panel = family.along_m || family.tile.n <= 32 ? 32 : 64;
    family.words = family.along_m ? 0 : words_of(plan_, family, false);
    if (family.words > 0) plan_.vector = 2;
    const DType type = family.a.dtype;
    family.atom = wgmma_of(type, family.tile.n, atoms::ASource::registers);
    family.score_atom = wgmma_of(type, kKeys, atoms::ASource::shared);
    of_weights_.padded_depth = family.padded_depth =
        (static_cast<int>(family.depth.value()) + 63) / 64 * 64;
    const int bytes = device::device_of(target_).shared_bytes - kReservedBytes;
    const auto take = [&](int& stages, int most) {
      while (stages < most && attention_shared_bytes(family) <= bytes) ++stages;
      if (attention_shared_bytes(family) > bytes) --stages;
    };
    take(family.stages_of_q, 2);
    take(family.tile.stages, kMostStages);
    check_sides(family.tile);
    plan_.family = std::move(family);
  }

  void choose_mma() {
    AttentionMma family;
    static_cast<Matmul&>(family) = product_;
    const auto padded = [](const Dim& columns) {
      return (static_cast<int>(columns.value()) + 15) / 16 * 16;
    };
    of_weights_.padded_depth = padded(of_scores_.k);
    static_cast<Weights&>(family) = of_weights_;
    family.tile.n = padded(of_values_.n);
    family.panel = family.along_m || family.tile.n <= 32 ? 32 : 64;
    const DType type = family.a.dtype;
    family.atom = {.family = atoms::MmaFamily::mma_sync,
                   .m = 16,
                   .n = 8,
                   .k = 16,
                   .a = type,
                   .b = type,
                   .c = f32};
    choose_warps(plan_, tuning_, family);
    check_sides(family.tile);
    if (tuning_.threads && *tuning_.threads != family.tile.threads())
      refuse("threads", "use " + std::to_string(family.tile.threads()));
    plan_.family = std::move(family);
  }

  void check_knobs() const {
    if (tuning_ == Tuning{.threads = tuning_.threads, .tile = tuning_.tile}) return;
    throw Error(ErrorCode::invalid_spec,
                "kernels of attention have no other knobs than threads and tile; remove the others",
                "/tuning");
  }

  void check_sides(const TileShape& tile) const {
    const std::array<int, 2> sides =
        product_.along_m ? std::array{tile.m, tile.n} : std::array{tile.n, tile.m};
    if (!tuning_.tile || *tuning_.tile == sides) return;
    refuse("tile", "use " + std::to_string(sides[0]) + " by " + std::to_string(sides[1]));
  }

  /// The operation of the kernel: the last step's, with q in place of the weights, and with k and
  /// what scores read behind.
  void join(AttentionPlan& made) {
    op_ = values_.op;
    analysis_ = values_.analysis;
    made.tensors = values_.tensors;
    op_.tensors[0] = scores_.op.tensors[0];
    made.tensors[0] = scores_.tensors[0];
    plan_.operands[0].dtype = product_.a.dtype;
    const auto add = [&](const Tensor& tensor, int number, Reach reach, Access access) {
      op_.tensors.push_back(tensor);
      made.tensors.push_back(number);
      analysis_.axes.emplace_back();
      analysis_.access.push_back(access);
      Operand operand{.tensor = static_cast<int>(op_.tensors.size()) - 1,
                      .dtype = tensor.dtype,
                      .read = access == Access::in,
                      .written = access == Access::out,
                      .per_row = access == Access::out,
                      .reach = reach,
                      .access_bytes = reach == Reach::product ? 16 : size_bytes(tensor.dtype),
                      .modes = plan_.operands[0].modes};
      plan_.operands.push_back(std::move(operand));
      return plan_.operands.back().tensor;
    };
    of_weights_.key_tensor =
        add(scores_.op.tensors[1], scores_.tensors[1], Reach::product, Access::in);
    Scores& scores = of_weights_.scores;
    scores = {.program = weights_.analysis.program,
              .attention = attention_,
              .shape = weights_.analysis.shape};
    scores.attention.scores = 0;
    scores.attention.weights = 1;
    scores.attention.values = 2;
    scores.attention.rows.reset();
    const auto modes = modes_of_scores();
    for (std::size_t t = 0; t < weights_.op.tensors.size(); ++t) {
      const Access access = weights_.analysis.access[t];
      const int source = static_cast<int>(t);
      if (source == attention_.products || source == attention_.result) continue;
      ScoreTensor tensor{.source = source, .written = access == Access::out};
      tensor.tensor = add(weights_.op.tensors[t], weights_.tensors[t], Reach::strided, access);
      for (const IterationMode& mode : modes) tensor.modes.push_back(mode.operands[t]);
      scores.tensors.push_back(std::move(tensor));
    }
    simplify(scores);
    for (const auto& [name, divisor] : weights_.analysis.symbols)
      analysis_.symbols.emplace(name, divisor);
  }

  void finish() {
    const auto take = [&](auto& family) {
      static_cast<Weights&>(family) = of_weights_;
      family.choose_launch(plan_, {});
    };
    if (auto* const wgmma = std::get_if<AttentionWgmma>(&plan_.family)) {
      take(*wgmma);
    } else {
      take(std::get<AttentionMma>(plan_.family));
    }
    for (Operand* operand : {&plan_.operands[0], &plan_.operands[1]}) {
      operand->reach = Reach::product;
      operand->access_bytes = 16;
    }
    plan_.signature = signature_of(op_, analysis_);
    plan_.params = params_of(op_, plan_);
    plan_.params_bytes = operation::struct_bytes(plan_.params);
  }

  const formula::Attention& attention_;
  const formula::Step &scores_, &weights_, &values_;
  formula::Product of_scores_, of_values_;
  const Target& target_;
  const Tuning& tuning_;
  Matmul product_;
  Weights of_weights_;
  Plan plan_;
  Fused op_;
  formula::Analysis analysis_;
};

}  // namespace

AttentionPlan plan_attention(const formula::Analysis& analysis,
                             const formula::AttentionSearch& search, const Target& target,
                             const Tuning& tuning) {
  return AttentionPlanner(analysis, search, target, tuning).run();
}

std::string why_no_attention(const formula::Analysis& analysis, std::size_t step,
                             const Target& target) {
  const formula::AttentionSearch search = formula::find_attention(analysis, step);
  if (!search.found) return search.why_not;
  return plan_attention(analysis, search, target, {}).why_not;
}

}  // namespace tilejit::plan
