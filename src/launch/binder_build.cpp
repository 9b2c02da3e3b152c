// How a Binder is made from a plan.

#include "launch/binder.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {

Binder::Binder(const Fused& op, const spec::Analysis& analysis, const plan::Plan& plan)
    : symbols_(analysis.symbols),
      argument_count_(op.tensors.size() + op.scalars.size()),
      param_bytes_(static_cast<std::size_t>(plan.params_bytes)),
      units_per_block_(plan::units_per_block(plan)),
      blocks_per_unit_(plan::blocks_per_unit(plan)),
      rows_(plan.rows.has_value()),
      index_(plan.index) {
  if (param_bytes_ > kMaxParamBytes) {
    throw Error(ErrorCode::unsupported, "the kernel takes " + std::to_string(param_bytes_) +
                                            " bytes of parameters, and a launch passes at most " +
                                            std::to_string(kMaxParamBytes) +
                                            "; use fewer tensors, scalars or symbols");
  }
  add_tensors(op, analysis);
  add_iteration(plan);
  add_fields(op, plan);
  if (symbols_.size() != 0) return;
  known_values_.resize(dims_.size() + tensors_.size());
  known_.dims = std::span(known_values_).first(dims_.size());
  known_.bytes = std::span(known_values_).subspan(dims_.size());
  evaluate({}, known_);
  image_.resize(param_bytes_);
  if (known_.total > 0) write_sizes(known_, image_.data());
}

void Binder::add_tensors(const Fused& op, const spec::Analysis& analysis) {
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    BoundTensor& tensor =
        tensors_.emplace_back(op.tensors[i], analysis.access[i], static_cast<int>(i));
    for (const Mode& leaf : tensor.leaves) {
      tensor.extents.push_back(dims_.number(leaf.extent, symbols_));
      tensor.strides.push_back(dims_.number(leaf.stride, symbols_));
    }
    if (tensor.written) written_.push_back(i);
  }
}

void Binder::add_iteration(const plan::Plan& plan) {
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    iteration_.push_back({dims_.number(plan.extents[m], symbols_), plan::unit_extent(plan, m)});
  }
  for (const plan::Operand& operand : plan.operands) {
    auto& modes = operand_modes_.emplace_back();
    for (const plan::OperandMode& mode : operand.modes) {
      auto& leaves = modes.emplace_back();
      for (const Mode& leaf : mode) {
        leaves.push_back(
            {dims_.number(leaf.extent, symbols_), dims_.number(leaf.stride, symbols_)});
      }
    }
  }
}

void Binder::add_fields(const Fused& op, const plan::Plan& plan) {
  for (const plan::Param& param : plan.params) {
    switch (param.kind) {
      case plan::Param::Kind::pointer: pointers_.push_back({param.index, param.offset}); break;
      case plan::Param::Kind::scalar:
        scalars_.push_back({static_cast<int>(op.tensors.size()) + param.index, param.dtype,
                            param.offset, op.scalars[static_cast<std::size_t>(param.index)].name});
        break;
      case plan::Param::Kind::partials: break;  // for the launch to fill in
      case plan::Param::Kind::total:
      case plan::Param::Kind::dim:
      case plan::Param::Kind::divisor:
        size_fields_.push_back(
            {param.kind, dims_.number(param.dim, symbols_), param.per, param.offset});
        break;
    }
  }
}

}  // namespace tilejit::launch
