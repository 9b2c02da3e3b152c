// Construction of a Binder.

#include <algorithm>

#include "launch/binder.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

using operation::Param;

/// Of the parameters of a step.
int alignment_of(const operation::Step& step) noexcept {
  return operation::has_tensor_maps(step) ? operation::TensorMap::kAlignment : 16;
}

void check_params(const operation::Step& step) {
  if (static_cast<std::size_t>(step.params_bytes) <= kMaxParamBytes) return;
  throw Error(ErrorCode::unsupported, "the kernel takes " + std::to_string(step.params_bytes) +
                                          " bytes of parameters, and a launch passes at most " +
                                          std::to_string(kMaxParamBytes) +
                                          "; use fewer tensors, scalars or symbols");
}

}  // namespace

Binder::Binder(const operation::Signature& signature, const operation::LaunchPlan& plan,
               const driver::Context* context)
    : symbols_(signature.symbols),
      argument_count_(signature.tensors.size() + signature.scalars.size()) {
  operation::check_tensor_maps(signature, plan);
  if (std::ranges::any_of(plan.steps, operation::has_tensor_maps)) {
    encoder_ = std::make_unique<TensorMapEncoder>(*context);
  }
  add_tensors(signature);
  add_elements(plan);
  for (const operation::Step& step : plan.steps) add_step(signature, step);
  for (const operation::Workspace& workspace : plan.workspaces) {
    workspaces_.push_back(dims_.number(workspace.bytes, symbols_));
  }
  if (symbols_.size() != 0) return;
  known_values_.resize(size_count());
  known_ = place(known_values_);
  known_grids_.resize(steps_.size());
  evaluate({}, known_);
  make_grids(known_, known_grids_);
  image_.resize(param_bytes_);
  if (known_.any) write_sizes(known_, image_.data());
}

void Binder::add_tensors(const operation::Signature& signature) {
  for (std::size_t i = 0; i < signature.tensors.size(); ++i) {
    BoundTensor& tensor = tensors_.emplace_back(signature.tensors[i], static_cast<int>(i));
    for (const Mode& leaf : tensor.leaves) {
      tensor.extents.push_back(dims_.number(leaf.extent, symbols_));
      tensor.strides.push_back(dims_.number(leaf.stride, symbols_));
    }
    if (tensor.written) written_.push_back(i);
  }
}

void Binder::add_elements(const operation::LaunchPlan& plan) {
  for (const Dim& extent : plan.extents) space_.push_back(dims_.number(extent, symbols_));
  for (const std::vector<std::vector<Mode>>& of_tensor : plan.elements) {
    auto& modes = elements_.emplace_back();
    for (const std::vector<Mode>& mode : of_tensor) {
      auto& leaves = modes.emplace_back();
      for (const Mode& leaf : mode) {
        leaves.push_back(
            {dims_.number(leaf.extent, symbols_), dims_.number(leaf.stride, symbols_)});
      }
    }
  }
}

void Binder::add_step(const operation::Signature& signature, const operation::Step& step) {
  check_params(step);
  const auto begin = static_cast<int>(param_bytes_);
  const int alignment = alignment_of(step);
  Step made{.offset = (begin + alignment - 1) / alignment * alignment,
            .units = {},
            .units_per_block = step.grid.units_per_block,
            .blocks_per_unit = step.grid.blocks_per_unit,
            .units_in_32_bits = step.grid.units_in_32_bits,
            .has_wide = !step.wide_entry.empty(),
            .sizes = {},
            .shape = make_shape(step)};
  for (const operation::GridRule::Count& count : step.grid.units) {
    made.units.push_back({dims_.number(count.extent, symbols_), count.per});
  }
  for (const Param& param : step.params) add_field(signature, param, made);
  param_bytes_ = static_cast<std::size_t>(made.offset + step.params_bytes);
  steps_.push_back(std::move(made));
}

void Binder::add_field(const operation::Signature& signature, const Param& param, Step& step) {
  const int offset = step.offset + param.offset;
  switch (param.kind) {
    case Param::Kind::pointer: pointers_.push_back({param.index, offset}); break;
    case Param::Kind::scalar:
      scalars_.push_back({static_cast<int>(tensors_.size()) + param.index, param.dtype, offset,
                          signature.scalars[static_cast<std::size_t>(param.index)].name});
      break;
    case Param::Kind::workspace:
      workspace_fields_.push_back({param.index, offset});
      workspace_offsets_.push_back(offset);
      break;
    case Param::Kind::tensor_map: add_tensor_map(param, offset); break;
    case Param::Kind::total:
    case Param::Kind::dim:
    case Param::Kind::divisor:
      step.sizes.push_back({param.kind, dims_.number(param.dim, symbols_), param.per, offset});
      break;
  }
}

void Binder::add_tensor_map(const Param& param, int offset) {
  const bool of_tensor = param.map.base == operation::TensorMap::Base::tensor;
  MapField field{.base = param.map.base, .index = param.index, .modes = {}, .offset = offset};
  for (const operation::TensorMap::Mode& mode : param.map.modes) {
    field.modes.push_back(
        {dims_.number(mode.extent, symbols_), dims_.number(mode.stride, symbols_)});
  }
  maps_.push_back(std::move(field));
  const auto tensor = static_cast<std::size_t>(param.index);
  encoder_->add(param.map, param.name,
                of_tensor
                    ? TensorMapEncoder::Owner{tensors_[tensor].text(), tensors_[tensor].where()}
                    : TensorMapEncoder::Owner{"workspace " + std::to_string(param.index), {}});
}

}  // namespace tilejit::launch
