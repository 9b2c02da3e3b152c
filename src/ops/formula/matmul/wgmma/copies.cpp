#include "wgmma/copies.hpp"

#include <algorithm>
#include <optional>

#include "device/warpgroup_costs.hpp"
#include "formula/product.hpp"
#include "formula/steps.hpp"
#include "matmul/product_plan.hpp"
#include "wgmma/wgmma_plan.hpp"

namespace tilejit::plan {
namespace {

using formula::Step;

constexpr int kWideBytes = 16;

/// The shape of an operand, if all of its extents are numbers, and no two places are one element.
std::optional<std::vector<std::int64_t>> shape_of(const Layout& layout) {
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < rank(layout); ++i) {
    std::int64_t extent = 1;
    const Layout along = mode(layout, i);
    for (const Mode& leaf : along.leaves()) {
      const bool repeats = leaf.stride.is(0) && !leaf.extent.is(1);
      if (!leaf.extent.is_known() || leaf.extent.is(0) || repeats) return std::nullopt;
      extent *= leaf.extent.value();
    }
    shape.push_back(extent);
  }
  return shape;
}

/// Row-major but for the last two modes, of which `fast` is contiguous, and each row of which
/// begins at a multiple of 16 bytes.
Layout padded(const std::vector<std::int64_t>& shape, std::size_t fast, int element_bytes) {
  const std::int64_t wide = kWideBytes / element_bytes;
  std::vector<std::size_t> order = {fast, 2 * shape.size() - 3 - fast};
  for (std::size_t i = shape.size() - 2; i-- > 0;) order.push_back(i);
  std::vector<IntTuple> extents, strides(shape.size());
  std::int64_t stride = 1;
  for (const std::size_t i : order) {
    strides[i] = Dim(stride);
    stride *= i == fast ? (shape[i] + wide - 1) / wide * wide : shape[i];
  }
  for (const std::int64_t extent : shape) extents.emplace_back(Dim(extent));
  return {IntTuple::tuple(extents), IntTuple::tuple(strides)};
}

class Copies {
 public:
  Copies(int first, const Target& target) : number_(first), target_(target) {}

  /// `step`, after copies of its operands if these pay.
  void add(Step step) {
    if (formula::has_product(step.analysis.program) && may_copy(step)) copy(step);
    made_.steps.push_back(std::move(step));
  }
  StepList take() { return std::move(made_); }

 private:
  [[nodiscard]] bool may_copy(const Step& step) const {
    const formula::Product product = formula::product_of(step.op, step.analysis);
    const Matmul types{.a = {.dtype = product.a.dtype},
                       .b = {.dtype = product.b.dtype},
                       .accumulator = product.accumulator};
    return !product.second && has_wgmma(target_, types) && product.k.is_known() &&
           std::ranges::all_of(step.analysis.shape, &Dim::is_known);
  }

  void copy(Step& step) {
    Step user = step;
    std::vector<Step> copies;
    std::vector<std::size_t> operands;
    double clocks = 0;
    for (std::size_t operand = 0; operand < 2; ++operand) {
      auto made = copy_of(user, operand);
      if (!made) continue;
      clocks += clocks_of(made->op.tensors[1]);
      copies.push_back(*std::move(made));
      operands.push_back(operand);
    }
    if (copies.empty()) return;
    clocks += product_clocks(user.op, user.analysis, target_);
    if (clocks >= product_clocks(step.op, step.analysis, target_)) return;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const Tensor& result = copies[i].op.tensors[1];
      user.tensors[operands[i]] = copies[i].tensors[1] = number_++;
      made_.temporaries.push_back({.dtype = result.dtype, .elements = cosize(result.layout)});
      made_.steps.push_back(std::move(copies[i]));
    }
    step = std::move(user);
  }

  /// Whether both operands would have to go through registers.
  static bool both_along_m(const Step& user) {
    const formula::Product product = formula::product_of(user.op, user.analysis);
    const auto source = [&](const formula::ProductOperand& operand, std::size_t i) {
      return source_of(operand, user.op.tensors[i].align, user.analysis.symbols);
    };
    return goes_through_registers(source(product.a, 0)) &&
           goes_through_registers(source(product.b, 1));
  }

  /// The step that copies an operand, of which `user` then reads the copy; nothing if it need not,
  /// or cannot, be copied.
  std::optional<Step> copy_of(Step& user, std::size_t operand) const {
    const formula::Product product = formula::product_of(user.op, user.analysis);
    Tensor& tensor = user.op.tensors[operand];
    const OperandSource source =
        source_of(operand == 0 ? product.a : product.b, tensor.align, user.analysis.symbols);
    const auto shape = shape_of(tensor.layout);
    if (source.is_computed() || !shape || (fault_of_source(source).empty() && !both_along_m(user)))
      return std::nullopt;
    const std::size_t last = shape->size() - 1, along_k = operand == 0 ? last : last - 1;
    const int bytes = size_bytes(tensor.dtype);
    const bool as_it_is = source.major == atoms::Major::k || bytes != 2;
    const Layout layout = padded(*shape, as_it_is ? along_k : 2 * last - 1 - along_k, bytes);
    Tensor from = tensor;
    if (from.dtype == tf32) from.dtype = f32;
    Tensor to = {.name = tensor.name + "_copy", .dtype = from.dtype, .layout = layout};
    Step step{.op = {.name = user.op.name,
                     .symbols = user.op.symbols,
                     .tensors = {from, to},
                     .scalars = user.op.scalars},
              .analysis = {},
              .tensors = {user.tensors[operand], -1},
              .why = {}};
    const expr::Program program = {
        .nodes = {{.op = expr::Op::load, .type = from.dtype, .source = 0}},
        .stores = {{.tensor = 1, .value = 0}}};
    step.analysis = formula::analyze_step(step.op, program, {shape->begin(), shape->end()});
    step.analysis.symbols = user.analysis.symbols;
    tensor.name = to.name;
    tensor.layout = layout;
    tensor.align = kWideBytes;
    return step;
  }

  /// Of a copy: a launch, and memory that is read and written.
  static double clocks_of(const Tensor& copied) {
    const device::WarpgroupCosts costs;
    const double bytes = static_cast<double>(cosize(copied.layout)) * size_bytes(copied.dtype);
    return costs.launch_of_copy + 2 * bytes / costs.bytes_in_clock;
  }

  int number_;
  const Target target_;
  StepList made_;
};

}  // namespace

StepList with_copied_operands(std::vector<Step> steps, int first, const Target& target) {
  Copies copies(first, target);
  for (Step& step : steps) copies.add(std::move(step));
  return copies.take();
}

}  // namespace tilejit::plan
