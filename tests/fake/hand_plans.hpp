#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "doors/body.hpp"
#include "launch/binder.hpp"
#include "plan/plan.hpp"
#include "tilejit/fused.hpp"

namespace tilejit {

/// The bytes of each parameter of a kernel.
inline std::vector<std::string> fields_of(const plan::Plan& plan, const std::byte* params) {
  std::vector<std::string> fields;
  for (const plan::Param& param : plan.params) {
    fields.emplace_back(reinterpret_cast<const char*>(params) + param.offset,
                        static_cast<std::size_t>(param.size));
  }
  return fields;
}

/// An operation with a handwritten plan, so that tests of the launch path define the kernel's
/// parameters themselves. Modes are not coalesced; leaves of nested layouts are.
struct HandPlan {
  Fused op;
  plan::Plan plan;

  HandPlan() {
    plan.kernel_name = "tilejit_hand";
    plan.threads = 256;
  }

  /// Adds a tensor. All tensors have the same rank; the first has the iteration shape. `access` is
  /// not automatic.
  HandPlan& tensor(const std::string& name, DType dtype, const Layout& layout, Access access) {
    op.tensors.push_back({.name = name, .dtype = dtype, .layout = layout, .access = access});
    plan.signature.tensors.push_back(op.tensors.back());
    const std::size_t modes = rank(layout);
    plan::Operand operand{.tensor = static_cast<int>(op.tensors.size()) - 1,
                          .dtype = dtype,
                          .read = access != Access::out,
                          .written = access != Access::in};
    for (std::size_t i = modes; i-- > 0;) {
      const Layout own = mode(layout, i);
      operand.modes.emplace_back(own.leaves().begin(), own.leaves().end());
      if (plan.operands.empty()) plan.extents.push_back(size(mode(layout, i)));
    }
    plan.operands.push_back(std::move(operand));
    for (const Mode& leaf : layout.leaves()) {
      for (const Dim& dim : {leaf.extent, leaf.stride}) {
        for (const std::string& symbol : dim.symbols())
          plan.signature.symbols.try_emplace(symbol, 1);
      }
    }
    return param({.kind = plan::Param::Kind::pointer, .index = operand.tensor});
  }
  HandPlan& in(const std::string& name, const Layout& layout, DType dtype = f32) {
    return tensor(name, dtype, layout, Access::in);
  }
  HandPlan& out(const std::string& name, const Layout& layout, DType dtype = f32) {
    return tensor(name, dtype, layout, Access::out);
  }
  HandPlan& scalar(const std::string& name, DType dtype) {
    op.scalars.push_back({.name = name, .dtype = dtype});
    plan.signature.scalars.push_back(op.scalars.back());
    return param({.kind = plan::Param::Kind::scalar,
                  .index = static_cast<int>(op.scalars.size()) - 1,
                  .dtype = dtype,
                  .size = operation::scalar_bytes(dtype)});
  }
  HandPlan& total() { return param({.kind = plan::Param::Kind::total}); }
  HandPlan& dim(const Dim& value) { return param({.kind = plan::Param::Kind::dim, .dim = value}); }
  HandPlan& divisor(const Dim& value, std::int64_t per) {
    return param({.kind = plan::Param::Kind::divisor, .dim = value, .per = per, .size = 16});
  }

  /// Appends a tensor map of a tensor, after all fields of other kinds.
  HandPlan& map(int tensor, operation::TensorMap value) {
    param({.kind = plan::Param::Kind::tensor_map,
           .index = tensor,
           .map = std::move(value),
           .name = "m" + std::to_string(plan.params.size()),
           .size = operation::TensorMap::kBytes});
    return *this;
  }

  /// Appends a field, naturally aligned as in C.
  HandPlan& param(plan::Param field) {
    const bool is_map = field.kind == plan::Param::Kind::tensor_map;
    const int alignment = is_map ? operation::TensorMap::kAlignment : std::min(field.size, 8);
    field.offset = (plan.params_bytes + alignment - 1) / alignment * alignment;
    plan.params_bytes = field.offset + field.size;
    plan.params.push_back(std::move(field));
    return *this;
  }

  /// A plan like the planner's.
  [[nodiscard]] operation::Plan planned() const {
    return {.kernel_name = plan.kernel_name,
            .target = plan.target,
            .light = plan::is_light(plan),
            .body = std::make_shared<const ops::FormulaBody>(
                std::make_shared<const formula::Analysis>(), Tuning{}, plan)};
  }
  [[nodiscard]] launch::Binder binder() const { return {plan.signature, plan::launch_plan(plan)}; }
};

/// Binds a launch of one kernel and writes its parameters to `params`.
inline launch::Grid bind_one(const launch::Binder& binder, std::span<const Argument> args,
                             const SymbolValues* symbols, std::span<std::byte> params) {
  launch::ParamSpace space(binder.param_bytes(), binder.step_count());
  const launch::BoundParams bound = binder.bind(args, symbols, space);
  if (bound.any()) std::memcpy(params.data(), bound.params, binder.param_bytes());
  return bound.grids.front();
}

/// The field at `offset` of a parameter struct.
template <typename T>
T field_at(const std::byte* params, int offset) {
  T value;
  std::memcpy(&value, params + offset, sizeof value);
  return value;
}

/// An address that no test dereferences.
inline void* on_device(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace tilejit
