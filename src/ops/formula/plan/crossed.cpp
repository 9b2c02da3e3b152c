#include "plan/crossed.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "box/walks.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "formula/steps.hpp"
#include "plan/axis_modes.hpp"
#include "plan/parts.hpp"
#include "plan/sectors.hpp"
#include "plan/unrolled.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

// Scattered sectors that lanes store in a microsecond while nothing else goes on.
constexpr double kScatteredOfUs = 70e3;
// Of sectors whose other parts the same or the next warps store.
constexpr double kOfGaps = 0.5;
constexpr std::int64_t kLeastRun = 64;  // bytes that lanes store side by side without loss
// What slices take of the time that memory takes for all bytes. If they lie within each other's
// sectors, those are read again for each of them.
constexpr double kOfSlices = 1.15, kOfInterleaved = 1.2, kOfInterleavedSlice = 0.15;
constexpr double kOfCopies = 1.2;  // copies take up to so much longer
constexpr double kOfMore = 1.5;    // microseconds of slices or copies, beside the memory's
constexpr double kGain = 1.15;     // that is worth it

/// Whether rows follow each other in another order than the operand's elements.
bool is_crossed(const Plan& plan, const Rows& rows, const Operand& operand) {
  std::int64_t most = 0;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    if (rows.reduces(m) || plan.extents[m].is(1)) continue;
    const std::int64_t stride = stride_of(operand, m);
    if (stride < most) return true;
    most = stride;
  }
  return false;
}

/// What lanes side by side store of `operand`.
struct Lanes {
  std::int64_t run = 1;        ///< elements that follow each other
  std::int64_t between = 0;    ///< bytes from a lane's element to the next lane's; 0: far
  std::int64_t neighbour = 0;  ///< bytes to the next element of the same lane or of the next one
};
Lanes lanes_of(const Plan& plan, const Rows& rows, const Operand& operand) {
  std::int64_t left = std::min(kWarp, plan.threads / rows.row_threads);
  if (rows.along() && !rows.abreast) left = std::max(1, kWarp / rows.row_threads);
  Lanes lanes;
  for (std::size_t m = 0; m < plan.extents.size() && left > 1; ++m) {
    if (rows.reduces(m)) continue;
    const std::int64_t each = m == 0 ? plan.vector : 1;  // elements of a lane
    const std::int64_t own = std::min(left, core::ceil_div(plan.extents[m].value(), each));
    const std::int64_t stride = stride_of(operand, m), bytes = stride * size_bytes(operand.dtype);
    if (stride == lanes.run) {
      lanes.run *= own * each;
    } else if (own > 1 && (lanes.between == 0 || bytes < lanes.neighbour)) {
      lanes.between = bytes * each;
      lanes.neighbour = bytes;
    }
    left /= own;
  }
  return lanes;
}

double elements_of_operand(const Operand& operand, const Plan& plan, const Rows& rows) {
  double elements = 1;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    const bool repeats =
        std::ranges::all_of(operand.modes[m], [](const Mode& leaf) { return leaf.stride.is(0); });
    if (!repeats && !(operand.per_row && rows.reduces(m)))
      elements *= static_cast<double>(plan.extents[m].value());
  }
  return elements;
}

/// Sectors that hold `run` elements which begin where all of the operand's other strides leave
/// them.
double sectors_of_run(const Operand& operand, const std::vector<Dim>& extents, std::int64_t run) {
  const std::int64_t bytes = size_bytes(operand.dtype);
  std::int64_t unit = std::gcd(std::int64_t{device::kSectorBytes}, run * bytes);
  for (std::size_t m = 0; m < extents.size(); ++m) {
    const std::int64_t stride = stride_of(operand, m);
    if (stride > 1 && !extents[m].is(1)) unit = std::gcd(unit, stride * bytes);
  }
  return static_cast<double>(run * bytes + device::kSectorBytes - unit) / device::kSectorBytes;
}

/// Microseconds of a kernel: those that its bytes take the memory, those that its scattered stores
/// take beside, and those of the results' bytes.
struct Times {
  double memory = 0, stores = 0, results = 0;
  int outputs = 0;  ///< that lie in another order
};
Times times_of(const Plan& plan, const Rows& rows) {
  std::vector<std::int64_t> all;
  for (const Dim& extent : plan.extents) all.push_back(extent.value());
  Times times;
  for (const Operand& operand : plan.operands) {
    const double us = elements_of_operand(operand, plan, rows) *
                      bytes_of_element(operand, plan.extents, all) / device::kBytesOfUs;
    const double stores = scattered_stores(plan, operand) / kScatteredOfUs;
    times.memory += us;
    times.stores += stores;
    if (stores > 0) times.results += us, ++times.outputs;
  }
  return times;
}

/// Leaves crossed results in the order of the rows, and copies them.
class ResultCopier {
 public:
  ResultCopier(const Fused& op, const formula::Analysis& analysis, const Plan& plan)
      : op_(op), analysis_(analysis), plan_(plan), rows_(*rows_of(plan)) {}

  std::optional<Split> run() {
    if (!find_leader()) return std::nullopt;
    main_.op = op_;
    main_.analysis = analysis_;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t)
      main_.tensors.push_back(static_cast<int>(t));
    std::vector<Part> copies;
    for (const Operand& operand : plan_.operands) {
      if (scattered_stores(plan_, operand) == 0) continue;
      auto copy = copy_of(static_cast<std::size_t>(operand.tensor));
      if (!copy) return std::nullopt;
      copies.push_back(*std::move(copy));
    }
    split_.parts.push_back(std::move(main_));
    std::ranges::move(copies, std::back_inserter(split_.parts));
    return std::move(split_);
  }

 private:
  /// The input that has the most elements, in whose order rows are counted.
  bool find_leader() {
    double most = 0;
    for (const Operand& operand : plan_.operands) {
      const double elements = elements_of_operand(operand, plan_, rows_);
      if (!operand.read || elements <= most) continue;
      most = elements;
      leader_ = static_cast<std::size_t>(operand.tensor);
    }
    return most > 0 && modes_of(op_.tensors[leader_]).has_value();
  }

  std::optional<Part> copy_of(std::size_t number) {
    const auto modes = modes_of(op_.tensors[number]);
    if (!modes) return std::nullopt;
    Tensor& result = main_.op.tensors[number];
    std::vector<IntTuple> extents, from, to, strides(rank(result.layout), IntTuple(Dim(0)));
    std::vector<Dim> shape;
    std::int64_t stride = 1;
    for (const AxisMode& one : ordered_as(op_, analysis_, leader_, number, *modes)) {
      shape.emplace_back(one.extent);
      extents.emplace_back(Dim(one.extent));
      from.emplace_back(Dim(stride));
      to.emplace_back(Dim(one.stride));
      strides[one.mode] = Dim(stride);
      stride *= one.extent;
    }
    result.name += "_rows";
    result.align = device::kWidestAccess;
    result.layout = {result.layout.shape(), IntTuple::tuple(strides)};
    Part copy;
    copy.op.name = op_.name;
    copy.op.tensors = {{.name = result.name,
                        .dtype = result.dtype,
                        .layout = {IntTuple::tuple(extents), IntTuple::tuple(from)}},
                       {.name = op_.tensors[number].name,
                        .dtype = result.dtype,
                        .layout = {IntTuple::tuple(extents), IntTuple::tuple(to)},
                        .align = op_.tensors[number].align}};
    const auto temporary = static_cast<int>(op_.tensors.size() + split_.temporaries.size());
    copy.tensors = {temporary, static_cast<int>(number)};
    main_.tensors[number] = temporary;
    const expr::Program program = {
        .nodes = {{.op = expr::Op::load, .type = result.dtype, .source = 0}},
        .stores = {{.tensor = 1, .value = 0}}};
    copy.analysis = formula::analyze_step(copy.op, program, shape);
    copy.analysis.symbols = analysis_.symbols;
    split_.temporaries.push_back({.dtype = result.dtype, .elements = Dim(stride)});
    return copy;
  }

  const Fused& op_;
  const formula::Analysis& analysis_;
  const Plan& plan_;
  const Rows& rows_;
  std::size_t leader_ = 0;  // the tensor in whose order rows are counted
  Part main_;
  Split split_;
};

/// What a formula of slices takes of the memory's time: of rows along which vectors lie, slices lie
/// within each other's sectors.
double of_slices(const Plan& plan, const Rows& rows) {
  if (!rows.along()) return kOfSlices;
  return kOfInterleaved +
         kOfInterleavedSlice * static_cast<double>(elements_in_row(plan, rows).value_or(0));
}

/// Whether operands that lie in other orders pass through shared memory.
bool passes_shared(const Plan& plan) {
  return std::holds_alternative<Tile>(plan.family) ||
         std::holds_alternative<Sheared>(plan.family) || std::holds_alternative<Box>(plan.family);
}

}  // namespace

double scattered_stores(const Plan& plan, const Operand& operand) {
  const Rows* const rows = rows_of(plan);
  const auto is_known = [](const OperandMode& mode) {
    return mode.size() == 1 && mode[0].stride.is_known();
  };
  if (rows == nullptr || !operand.written || !operand.per_row || rows->splits > 1 ||
      !std::ranges::all_of(plan.extents, &Dim::is_known) ||
      !std::ranges::all_of(operand.modes, is_known))
    return 0;
  if (!is_crossed(plan, *rows, operand)) return 0;
  const Lanes lanes = lanes_of(plan, *rows, operand);
  if (lanes.run * size_bytes(operand.dtype) >= kLeastRun) return 0;
  const double results = elements_of_operand(operand, plan, *rows);
  if (lanes.run == 1 && lanes.neighbour > 0 && lanes.neighbour < device::kSectorBytes)
    return kOfGaps * results *
           std::min(1.0, static_cast<double>(lanes.between) / device::kSectorBytes);
  return results / static_cast<double>(lanes.run) *
         sectors_of_run(operand, plan.extents, lanes.run);
}

std::optional<Plan> plan_crossed(const Fused& op, const formula::Analysis& analysis,
                                 const Plan& plan, std::vector<formula::Analysis>* of_parts) {
  const Rows* const rows = rows_of(plan);
  const bool takes =
      std::holds_alternative<Rows>(plan.family) || std::holds_alternative<StagedRows>(plan.family);
  if (!takes || direction_of(plan) || rows->splits > 1 ||
      !std::ranges::all_of(plan.extents, &Dim::is_known) ||
      std::ranges::any_of(plan.operands, [](const Operand& o) { return o.read && o.written; }))
    return std::nullopt;
  const Times times = times_of(plan, *rows);
  if (times.outputs == 0) return std::nullopt;
  const double most = (times.memory + times.stores) / kGain;
  const double slices = times.memory * of_slices(plan, *rows) + kOfMore;
  const double copies = times.memory + times.outputs * device::kKernelUs + 2 * times.results;
  if (slices < most && slices < kOfCopies * copies) {
    if (auto split = unroll_reductions(op, analysis, Outputs::whole)) {
      std::vector<formula::Analysis> parts;
      Plan sliced = plan_parts(op, analysis, plan.target, *std::move(split), &parts);
      if (passes_shared(std::get<Several>(sliced.family).parts.front())) {
        if (of_parts != nullptr) std::ranges::move(parts, std::back_inserter(*of_parts));
        return sliced;
      }
    }
  }
  auto copied = copies < most ? ResultCopier(op, analysis, plan).run() : std::nullopt;
  if (!copied) return std::nullopt;
  return plan_parts(op, analysis, plan.target, *std::move(copied), of_parts);
}

}  // namespace tilejit::plan
