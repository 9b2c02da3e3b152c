#include "cuda/reference.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/json_pointer.hpp"
#include "spec/problems.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cuda {
namespace {

/// The formula as an operation over the kernel's tensors. Their access is what the formula says:
/// a tensor that the kernel sets to 0 and adds to is an output of the formula.
Operation formula_of(const Resolved& kernel, const CudaReference::Formula& formula) {
  Fused op{.name = kernel.name,
           .symbols = kernel.symbols,
           .tensors = kernel.tensors,
           .scalars = kernel.scalars,
           .functions = formula.functions,
           .formula = formula.formula,
           .axis = formula.axis};
  for (Tensor& tensor : op.tensors) {
    if (tensor.access != Access::inout) tensor.access = Access::automatic;
  }
  return op;
}

const CudaReference::Formula& needed_formula(const Resolved& kernel) {
  if (kernel.reference) {
    const auto* const formula = std::get_if<CudaReference::Formula>(&kernel.reference->source);
    if (formula != nullptr) return *formula;
  }
  throw Error(ErrorCode::unsupported,
              "the CPU cannot compute what kernel '" + kernel.name +
                  "' computes; run it on a GPU, or give it a formula as \"reference\"",
              "/reference");
}

std::string faulty_output(const Resolved& kernel, std::size_t tensor, bool written) {
  return "the kernel " + std::string(written ? "writes" : "does not write") + " tensor '" +
         kernel.tensors[tensor].name + "', and its reference " + (written ? "does not" : "does");
}

void check_formula(const Resolved& kernel, const std::vector<Access>& access,
                   const CudaReference::Formula& formula) {
  const Operation op = formula_of(kernel, formula);
  const std::vector<Access> of_formula = resolve_access(op);
  for (std::size_t i = 0; i < access.size(); ++i) {
    const bool written = access[i] != Access::in;
    if (written == (of_formula[i] != Access::in)) continue;
    throw Error(ErrorCode::invalid_spec, faulty_output(kernel, i, written), "/reference/formula");
  }
}

void check_arrays(const Resolved& kernel, const std::vector<Access>& access,
                  const CudaReference::Arrays& arrays) {
  for (const auto& [name, file] : arrays.files) {
    const auto tensor = std::ranges::find(kernel.tensors, name, &Tensor::name);
    const auto at = static_cast<std::size_t>(tensor - kernel.tensors.begin());
    if (at < access.size() && access[at] != Access::in) continue;
    throw Error(ErrorCode::invalid_spec, spec::in_quotes(name) + " is no output of the kernel",
                core::pointer_to("/reference/npy", name));
  }
  for (std::size_t i = 0; i < access.size(); ++i) {
    const bool named = std::ranges::any_of(
        arrays.files, [&](const auto& file) { return file.first == kernel.tensors[i].name; });
    if (access[i] == Access::in || named) continue;
    throw Error(ErrorCode::invalid_spec, faulty_output(kernel, i, true), "/reference/npy");
  }
}

void check_other(const Resolved& kernel, const std::vector<Access>& access,
                 const Operation& other) {
  validate(other);
  const auto alike = [](const Tensor& a, const Tensor& b) {
    return a.name == b.name && a.dtype == b.dtype && a.layout == b.layout;
  };
  const auto scalars_alike = [](const Scalar& a, const Scalar& b) {
    return a.name == b.name && a.dtype == b.dtype;
  };
  if (!std::ranges::equal(kernel.tensors, other.tensors(), alike) ||
      !std::ranges::equal(kernel.scalars, other.scalars(), scalars_alike)) {
    throw Error(ErrorCode::invalid_spec,
                "the reference has other tensors or scalars than the kernel; leave them out, and "
                "it takes the kernel's",
                "/reference/kernel");
  }
  const std::vector<Access> of_other = resolve_access(other);
  for (std::size_t i = 0; i < access.size(); ++i) {
    const bool written = access[i] != Access::in;
    if (written == (of_other[i] != Access::in)) continue;
    throw Error(ErrorCode::invalid_spec, faulty_output(kernel, i, written), "/reference/kernel");
  }
}

}  // namespace

void check_reference(const Resolved& kernel, const std::vector<Access>& access) {
  if (!kernel.reference) return;
  const CudaReference& reference = *kernel.reference;
  if (!(reference.relative >= 0) || !(reference.absolute >= 0)) {
    throw Error(ErrorCode::invalid_spec, "a reference allows differences of 0 or more",
                "/reference");
  }
  if (const auto* const formula = std::get_if<CudaReference::Formula>(&reference.source)) {
    check_formula(kernel, access, *formula);
  } else if (const auto* const arrays = std::get_if<CudaReference::Arrays>(&reference.source)) {
    check_arrays(kernel, access, *arrays);
  } else {
    check_other(kernel, access, std::get<Operation>(reference.source));
  }
}

void evaluate_reference(const Resolved& kernel, const HostArguments& args) {
  evaluate(formula_of(kernel, needed_formula(kernel)), args);
}

Verification verify_reference(const Resolved& kernel, const HostArguments& inputs,
                              std::span<const void* const> actual, const VerifyOptions& options) {
  return verify(formula_of(kernel, needed_formula(kernel)), inputs, actual, options);
}

std::optional<ExpectedResults> expected_of(const Resolved& kernel) {
  if (!kernel.reference) return std::nullopt;
  const CudaReference& reference = *kernel.reference;
  ExpectedResults expected{.relative = reference.relative, .absolute = reference.absolute};
  if (const auto* const arrays = std::get_if<CudaReference::Arrays>(&reference.source)) {
    expected.files = arrays->files;
  } else if (const auto* const other = std::get_if<Operation>(&reference.source)) {
    expected.by = *other;
  } else {
    return std::nullopt;
  }
  return expected;
}

}  // namespace tilejit::cuda
