#include "plan/copied_weights.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "formula/steps.hpp"
#include "plan/axis_modes.hpp"
#include "plan/vectors.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

// What the L1 caches of an H100 take: a warp's access to lines, or to words of one bank.
constexpr double kClocksOfUs = device::kMultiprocessors * 1755.0;
constexpr std::int64_t kLinesOfClock = 4;
constexpr double kBytesOfUs = 3e6;
constexpr int kWideBytes = 16;
constexpr double kLeastRepeats = 4;  // of what is copied

class Copier {
 public:
  Copier(const Fused& op, const formula::Analysis& analysis, const Plan& plan)
      : op_(op), analysis_(analysis), plan_(plan), rows_(*rows_of(plan)) {}

  std::optional<Split> run() {
    const Operand* const leader = vector_leader(plan_);
    if (leader == nullptr || !std::ranges::all_of(plan_.extents, &Dim::is_known))
      return std::nullopt;
    leader_ = static_cast<std::size_t>(leader->tensor);
    main_.op = op_;
    main_.analysis = analysis_;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t)
      main_.tensors.push_back(static_cast<int>(t));
    for (const Operand& operand : plan_.operands) {
      if (operand.read && !operand.written && operand.reach == Reach::strided) copy(operand);
    }
    if (split_.parts.empty()) return std::nullopt;
    split_.parts.push_back(std::move(main_));
    return std::move(split_);
  }

 private:
  /// Microseconds in which the L1 caches answer all accesses to the operand.
  [[nodiscard]] double access_us(const Operand& operand) const {
    double elements = 1;
    for (const Dim& extent : plan_.extents) elements *= static_cast<double>(extent.value());
    const OperandMode& neighbours = operand.modes.front();
    if (neighbours.size() != 1) return 0;
    const std::int64_t apart =
        std::abs(neighbours[0].stride.value()) * plan_.vector * size_bytes(operand.dtype);
    const std::int64_t lines = core::ceil_div(kWarp * apart, std::int64_t{device::kLineBytes});
    const std::int64_t banks =
        device::kLineBytes / std::gcd(apart, std::int64_t{device::kLineBytes});
    const std::int64_t clocks = std::max(std::min<std::int64_t>(lines, kWarp) / kLinesOfClock,
                                         kWarp / std::min<std::int64_t>(banks, kWarp));
    return elements / kWarp * static_cast<double>(clocks) / kClocksOfUs;
  }

  void copy(const Operand& operand) {
    if (!varies_in_row(operand, rows_)) return;
    const auto number = static_cast<std::size_t>(operand.tensor);
    const Tensor& tensor = op_.tensors[number];
    const auto modes = modes_of(tensor), of_leader = modes_of(op_.tensors[leader_]);
    if (!modes || !of_leader || modes->empty()) return;
    if (kLeastRepeats * elements_of(*modes) > elements_of(*of_leader)) return;
    const double bytes = elements_of(*modes) * size_bytes(tensor.dtype);
    const double copy_us = device::kKernelUs + 2 * bytes / kBytesOfUs, now_us = access_us(operand);
    const double memory_us =
        elements_of(*of_leader) * size_bytes(op_.tensors[leader_].dtype) / kBytesOfUs;
    if (now_us < memory_us + 2 * copy_us) return;
    add_copy(number, ordered_as(op_, analysis_, leader_, number, *modes));
  }

  /// Copies tensor `number`, whose modes should lie in this order, to memory that the rows read.
  void add_copy(std::size_t number, const std::vector<AxisMode>& modes) {
    Tensor& user = main_.op.tensors[number];
    const std::int64_t wide = kWideBytes / size_bytes(user.dtype);
    std::vector<IntTuple> extents, from, to, all, strides(rank(user.layout), IntTuple(Dim(0)));
    std::int64_t stride = 1;
    for (const AxisMode& one : modes) {
      extents.emplace_back(Dim(one.extent));
      from.emplace_back(Dim(one.stride));
      to.emplace_back(Dim(stride));
      strides[one.mode] = Dim(stride);
      stride *= stride == 1 ? core::ceil_div(one.extent, wide) * wide : one.extent;
    }
    const Tensor source{.name = user.name,
                        .dtype = user.dtype,
                        .layout = {IntTuple::tuple(extents), IntTuple::tuple(from)},
                        .align = user.align};
    user.name += "_copy";
    user.align = kWideBytes;
    user.layout = {user.layout.shape(), IntTuple::tuple(strides)};
    Part copy;
    copy.op.name = op_.name;
    copy.op.symbols = op_.symbols;
    copy.op.scalars = op_.scalars;
    copy.op.tensors = {source,
                       {.name = user.name,
                        .dtype = user.dtype,
                        .layout = {IntTuple::tuple(extents), IntTuple::tuple(to)}}};
    const auto temporary = static_cast<int>(op_.tensors.size() + split_.temporaries.size());
    copy.tensors = {static_cast<int>(number), temporary};
    main_.tensors[number] = temporary;
    const expr::Program program = {
        .nodes = {{.op = expr::Op::load, .type = user.dtype, .source = 0}},
        .stores = {{.tensor = 1, .value = 0}}};
    std::vector<Dim> shape;
    for (const AxisMode& one : modes) shape.emplace_back(one.extent);
    copy.analysis = formula::analyze_step(copy.op, program, shape);
    copy.analysis.symbols = analysis_.symbols;
    split_.temporaries.push_back({.dtype = user.dtype, .elements = Dim(stride)});
    split_.parts.push_back(std::move(copy));
  }

  const Fused& op_;
  const formula::Analysis& analysis_;
  const Plan& plan_;
  const Rows& rows_;
  std::size_t leader_ = 0;  // the tensor in whose order rows are read
  Part main_;
  Split split_;
};

}  // namespace

std::optional<Split> split_after_copies(const Fused& op, const formula::Analysis& analysis,
                                        const Plan& plan) {
  if (rows_of(plan) == nullptr || std::holds_alternative<StagedRows>(plan.family))
    return std::nullopt;
  return Copier(op, analysis, plan).run();
}

}  // namespace tilejit::plan
