#include "attention/attention_plan.hpp"

#include <algorithm>
#include <utility>

#include "attention/score_program.hpp"
#include "device/device.hpp"
#include "formula/product.hpp"
#include "matmul/product_plan.hpp"
#include "plan/iteration.hpp"
#include "plan/params.hpp"
#include "plan/parts.hpp"
#include "wgmma/wgmma_plan.hpp"

namespace tilejit::plan {
namespace {

constexpr int kRows = 64, kKeys = 128, kStages = 2, kMostStages = 3, kReservedBytes = 1024;
/// Up to so many columns three warpgroups multiply instead of two, if they have registers for it:
/// exponentials take as long as products.
constexpr std::int64_t kFewColumns = 64;
constexpr std::int64_t kMostColumns = 128, kMostExtent = std::int64_t{1} << 31;
constexpr std::size_t kMostBatches = 3;

atoms::MmaAtom atom_of(DType type, int n, atoms::ASource source) {
  return {.family = atoms::MmaFamily::wgmma,
          .m = 64,
          .n = n,
          .k = 16,
          .a = type,
          .b = type,
          .c = f32,
          .a_source = source};
}

/// "q has more batches than a tensor map"; empty if tensor maps show it.
std::string fault_of(const std::string& name, const OperandSource& source, atoms::Major major) {
  OperandSource matrix = source;
  matrix.batch.clear();
  std::string fault = fault_of_source(matrix);
  if (fault.empty() && source.major != major) fault = "is not contiguous along the head dimension";
  std::size_t batches = 0;
  for (const std::vector<Mode>& leaves : source.batch) {
    for (const Mode& leaf : leaves) batches += !leaf.stride.is(0);
  }
  if (fault.empty() && batches > kMostBatches) fault = "has more batches than a tensor map";
  return fault.empty() ? fault : name + " " + fault;
}

bool is_short(const Dim& extent, std::int64_t most) {
  return extent.is_known() && extent.value() > 0 && extent.value() <= most;
}

class AttentionPlanner {
 public:
  AttentionPlanner(const formula::Analysis& analysis, const formula::AttentionSearch& search,
                   const Target& target)
      : attention_(*search.found),
        scores_(analysis.steps[attention_.scores]),
        weights_(search.weights),
        values_(analysis.steps[attention_.values]),
        of_scores_(formula::product_of(scores_.op, scores_.analysis)),
        of_values_(formula::product_of(values_.op, values_.analysis)),
        target_(target) {}

  AttentionPlan run() {
    family_.a = source(scores_, of_scores_.a);
    family_.keys = source(scores_, of_scores_.b);
    family_.b = source(values_, of_values_.b);
    AttentionPlan made;
    made.why_not = refusal();
    if (!made.why_not.empty()) return made;
    plan_ = plan_product(values_.op, values_.analysis, target_);
    choose();
    join(made);
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
    if (target_.number() != 90 || target_.feature != 'a') return "only sm_90a has a kernel for it";
    const DType type = family_.a.dtype;
    const bool alike = family_.keys.dtype == type && family_.b.dtype == type &&
                       values_.op.tensors[0].dtype == type;
    if (!alike || (type != f16 && type != bf16))
      return "q, k, v and the weights are not all f16 or all bf16";
    if (!is_short(of_scores_.k, kMostColumns) || !is_short(of_values_.n, kMostColumns))
      return "a head has more than 128 columns, or columns that are not known";
    for (const Dim& extent : weights_.analysis.shape) {
      if (extent.is_known() && (extent.value() >= kMostExtent || extent.value() == 0))
        return "there are no elements, or 2^31 of them along an axis";
    }
    for (const auto& fault :
         {fault_of("q", family_.a, atoms::Major::k), fault_of("k", family_.keys, atoms::Major::k),
          fault_of("v", family_.b, atoms::Major::mn)}) {
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

  /// The tile, instructions and rings; the plan is that of the product of weights and values.
  void choose() {
    const Matmul& product = *matmul_of(plan_);
    const auto* const by_warpgroups = std::get_if<MatmulWgmma>(&plan_.family);
    const bool is_swapped = by_warpgroups != nullptr && by_warpgroups->swapped;
    family_.k = product.k;
    family_.accumulator = f32;
    family_.node = product.node;
    family_.along_m = product.along_m != is_swapped;
    const int columns = static_cast<int>(of_values_.n.value());
    const Dim& queries = plan_.extents[family_.along_m ? 0 : 1];
    const bool is_narrow = columns <= kFewColumns && of_scores_.k.value() <= kFewColumns;
    const bool is_short = queries.is_known() && queries.value() <= 2 * kRows;
    const bool is_ragged = family_.k.is_known() && family_.k.value() % kKeys != 0;
    const bool has_room = !is_ragged && !has_tensors_of_keys();  // in registers
    const int consumers = is_narrow && !is_short && has_room ? 3 : 2;
    family_.tile = {
        .m = kRows * consumers, .n = (columns + 7) / 8 * 8, .k = kKeys, .warps_m = 4 * consumers};
    family_.tile.stages = kStages;
    family_.panel = family_.along_m || family_.tile.n <= 32 ? 32 : 64;
    if (by_warpgroups != nullptr && by_warpgroups->words > 0 && !is_swapped) {
      family_.words = by_warpgroups->words;
    } else {
      family_.words = family_.along_m ? 0 : words_of(plan_, family_, false);
      if (family_.words > 0) plan_.vector = 2;
    }
    const DType type = family_.a.dtype;
    family_.atom = atom_of(type, family_.tile.n, atoms::ASource::registers);
    family_.score_atom = atom_of(type, kKeys, atoms::ASource::shared);
    family_.depth = of_scores_.k;
    family_.columns = (static_cast<int>(family_.depth.value()) + 63) / 64 * 64;
    const int bytes = device::device_of(target_).shared_bytes - kReservedBytes;
    const auto take = [&](int& stages, int most) {
      while (stages < most && attention_shared_bytes(family_) <= bytes) ++stages;
      if (attention_shared_bytes(family_) > bytes) --stages;
    };
    take(family_.stages_of_q, 2);
    take(family_.tile.stages, kMostStages);
  }

  /// The operation of the kernel: the last step's, with q in place of the weights, and with k and
  /// what scores read behind.
  void join(AttentionPlan& made) {
    op_ = values_.op;
    analysis_ = values_.analysis;
    made.tensors = values_.tensors;
    op_.tensors[0] = scores_.op.tensors[0];
    made.tensors[0] = scores_.tensors[0];
    plan_.operands[0].dtype = family_.a.dtype;
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
    family_.key_tensor = add(scores_.op.tensors[1], scores_.tensors[1], Reach::product, Access::in);
    family_.scores = {.program = weights_.analysis.program,
                      .attention = attention_,
                      .shape = weights_.analysis.shape};
    family_.scores.attention.scores = 0;
    family_.scores.attention.weights = 1;
    family_.scores.attention.values = 2;
    family_.scores.attention.rows.reset();
    const auto modes = modes_of_scores();
    for (std::size_t t = 0; t < weights_.op.tensors.size(); ++t) {
      const Access access = weights_.analysis.access[t];
      const int source = static_cast<int>(t);
      if (source == attention_.products || source == attention_.result) continue;
      ScoreTensor tensor{.source = source, .written = access == Access::out};
      tensor.tensor = add(weights_.op.tensors[t], weights_.tensors[t], Reach::strided, access);
      for (const IterationMode& mode : modes) tensor.modes.push_back(mode.operands[t]);
      family_.scores.tensors.push_back(std::move(tensor));
    }
    simplify(family_.scores);
    for (const auto& [name, divisor] : weights_.analysis.symbols)
      analysis_.symbols.emplace(name, divisor);
  }

  void finish() {
    plan_.family = family_;
    std::get<AttentionWgmma>(plan_.family).choose_launch(plan_, {});
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
  AttentionWgmma family_;
  Plan plan_;
  Fused op_;
  formula::Analysis analysis_;
};

}  // namespace

AttentionPlan plan_attention(const formula::Analysis& analysis,
                             const formula::AttentionSearch& search, const Target& target) {
  return AttentionPlanner(analysis, search, target).run();
}

std::string why_no_attention(const formula::Analysis& analysis, std::size_t step,
                             const Target& target) {
  const formula::AttentionSearch search = formula::find_attention(analysis, step);
  if (!search.found) return search.why_not;
  return plan_attention(analysis, search, target).why_not;
}

}  // namespace tilejit::plan
