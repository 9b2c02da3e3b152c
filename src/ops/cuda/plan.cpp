#include "cuda/plan.hpp"

#include <algorithm>
#include <utility>

#include "core/json_line.hpp"
#include "cuda/constants.hpp"
#include "device/device.hpp"
#include "operation/zeroing.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cuda {
namespace {

using operation::append_field;
using operation::LaunchPlan;
using operation::LaunchShape;
using operation::Param;
using operation::Step;

std::vector<Param> params_of(const Resolved& kernel, const Checked& checked) {
  std::vector<Param> params;
  for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
    append_field(params, {.kind = Param::Kind::pointer,
                          .index = static_cast<int>(i),
                          .dtype = kernel.tensors[i].dtype,
                          .name = kernel.tensors[i].name});
  }
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    append_field(params, {.kind = Param::Kind::scalar,
                          .index = static_cast<int>(i),
                          .dtype = kernel.scalars[i].dtype,
                          .name = kernel.scalars[i].name,
                          .size = operation::scalar_bytes(kernel.scalars[i].dtype)});
  }
  const auto add_symbol = [&](const std::string& name) {
    append_field(params,
                 {.kind = Param::Kind::dim, .dim = Dim(std::string_view(name)), .name = name});
  };
  for (const Symbol& symbol : kernel.symbols) add_symbol(symbol.name);
  // One by one a kernel takes only those that the descriptor lists.
  if (kernel.args == CudaArguments::positional) return params;
  for (const auto& [name, divisor] : checked.symbols) {
    if (std::ranges::find(kernel.symbols, name, &Symbol::name) == kernel.symbols.end()) {
      add_symbol(name);
    }
  }
  return params;
}

void check_target(const Checked& checked, const Target& target) {
  if (checked.shape.cluster > 1 && target.major < 9) {
    throw Error(ErrorCode::unsupported,
                to_string(target) + " has no clusters; leave out \"cluster\"", "/launch/cluster");
  }
  const auto& shared = checked.shape.numbers[LaunchShape::shared];
  const int most = device::device_of(target).shared_bytes;
  if (shared.is_known() && shared.evaluate() > most) {
    throw Error(ErrorCode::unsupported,
                "'" + shared.text() + "' is " + std::to_string(shared.evaluate()) +
                    " bytes of shared memory, and a multiprocessor of " + to_string(target) +
                    " has " + std::to_string(most),
                "/launch/shared");
  }
}

/// The most threads that a launch may ask for.
int most_threads(const LaunchShape& shape) {
  std::int64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    const auto& extent = shape.numbers[static_cast<std::size_t>(LaunchShape::block + i)];
    if (!extent.is_known()) return 1024;
    threads *= extent.evaluate();
  }
  return static_cast<int>(threads);
}

Step kernel_step(const KernelPlan& plan) {
  const LaunchShape& shape = plan.checked.shape;
  const auto& shared = shape.numbers[LaunchShape::shared];
  return {.entry = plan.kernel->entry,
          .shape = shape,
          .threads = most_threads(shape),
          .cluster = shape.cluster,
          .sets_cluster = shape.cluster > 1,
          .shared_bytes = shared.is_known() ? static_cast<int>(shared.evaluate()) : 0,
          .params = plan.params,
          .params_bytes = plan.params_bytes,
          .positional = plan.kernel->args == CudaArguments::positional};
}

void write_launch(const LaunchShape& shape, core::JsonLine& line) {
  line.key("launch").open('[');
  for (const auto& number : shape.numbers) line.value(number.text());
  line.close(']').member("cluster", shape.cluster);
}

void write_constants(const std::vector<CudaConstant>& constants, core::JsonLine& line) {
  line.key("constants").open('{');
  for (const CudaConstant& constant : constants) {
    line.member(constant.name, to_text(constant.value));
  }
  line.close('}');
}

}  // namespace

KernelPlan make_plan(std::shared_ptr<const Resolved> kernel, const Tuning& tuning,
                     const Target& target) {
  KernelPlan plan{.kernel = std::move(kernel),
                  .target = target,
                  .checked = check(*plan.kernel, tuning),
                  .signature = {},
                  .params = {}};
  check_target(plan.checked, target);
  plan.params = params_of(*plan.kernel, plan.checked);
  plan.params_bytes = operation::struct_bytes(plan.params);
  plan.signature = {.tensors = plan.kernel->tensors,
                    .scalars = plan.kernel->scalars,
                    .symbols = plan.checked.symbols};
  for (std::size_t i = 0; i < plan.signature.tensors.size(); ++i) {
    plan.signature.tensors[i].access = plan.checked.access[i];
  }
  return plan;
}

std::string to_json(const KernelPlan& plan) {
  const Resolved& kernel = *plan.kernel;
  core::JsonLine line;
  line.open('{')
      .member("template", "cuda")
      .member("kernel", kernel.entry)
      .member("args", kernel.args == CudaArguments::params ? "params" : "positional")
      .member("source", kernel.digest);
  if (kernel.toolkit) {
    line.key("toolkit").open('{').member("version", kernel.toolkit->version);
    line.key("folders").open('[');
    for (const std::string& folder : kernel.toolkit->folders) line.value(folder);
    line.close(']').close('}');
  }
  line.key("options").open('[');
  for (const std::string& option : kernel.options) line.value(option);
  line.close(']');
  write_constants(plan.checked.constants, line);
  line.key("params").open('[');
  for (const Param& param : plan.params) {
    line.open('{').member("name", param.name);
    if (param.kind == Param::Kind::pointer) {
      const Access access = plan.checked.access[static_cast<std::size_t>(param.index)];
      line.member("access", access == Access::in ? "in" : "out");
    }
    if (param.kind != Param::Kind::dim) line.member("dtype", to_string(param.dtype));
    line.member("offset", param.offset).close('}');
  }
  line.close(']').key("zeroed").open('[');
  for (const Tensor* const tensor : zeroed_tensors(plan)) {
    line.open('{').member("name", tensor->name).member("layout", to_string(tensor->layout));
    line.member("dtype", to_string(tensor->dtype)).close('}');
  }
  line.close(']');
  write_launch(plan.checked.shape, line);
  return line.close('}').take();
}

LaunchPlan launch_plan(const KernelPlan& plan) {
  LaunchPlan launch;
  for (const Tensor* const tensor : zeroed_tensors(plan)) {
    launch.steps.push_back(
        operation::zero_step(zero_entry(plan, *tensor), *tensor,
                             static_cast<int>(tensor - plan.kernel->tensors.data())));
  }
  launch.steps.push_back(kernel_step(plan));
  // No two tensors count as equal element by element: nothing is known of what the kernel does when
  // an output takes the place of an input.
  launch.extents = {2};
  for (std::size_t i = 0; i < plan.kernel->tensors.size(); ++i) {
    launch.elements.push_back({{Mode{static_cast<std::int64_t>(i), 1}}});
  }
  return launch;
}

std::string zero_entry(const KernelPlan& plan, const Tensor& tensor) {
  return plan.kernel->entry + "_zero_" + tensor.name;
}

std::vector<const Tensor*> zeroed_tensors(const KernelPlan& plan) {
  std::vector<const Tensor*> tensors;
  for (const std::string& name : plan.kernel->zeroed) {
    tensors.push_back(&*std::ranges::find(plan.kernel->tensors, name, &Tensor::name));
  }
  return tensors;
}

}  // namespace tilejit::cuda
