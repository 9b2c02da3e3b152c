#include "cuda/descriptor.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/text.hpp"
#include "cuda/body.hpp"
#include "cuda/check.hpp"
#include "cuda/constants.hpp"
#include "cuda/json.hpp"
#include "cuda/reference.hpp"
#include "cuda/tuning.hpp"
#include "operation/hasher.hpp"

namespace tilejit::cuda {
namespace {

/// The parts that only these kernels have, in the order of kKernelParts.
enum class KernelPart : std::uint8_t { source, entry, constants, zeroed, launch, options, args };
constexpr const char* kKernelParts[] = {"/source", "/entry",   "/constants", "/zeroed",
                                        "/launch", "/options", "/args"};

std::string list_of(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string text_of(const Resolved& kernel, KernelPart part) {
  switch (part) {
    case KernelPart::source: return kernel.source.string() + ' ' + kernel.digest.substr(0, 16);
    case KernelPart::entry: return kernel.entry;
    case KernelPart::constants: {
      std::vector<std::string> all;
      for (const CudaConstant& constant : kernel.constants) {
        all.push_back(constant.name + '=' + to_text(constant.value));
      }
      return list_of(all);
    }
    case KernelPart::zeroed: return list_of(kernel.zeroed);
    case KernelPart::launch:
      return "grid (" + list_of(kernel.launch.grid) + "), block (" + list_of(kernel.launch.block) +
             "), cluster " + kernel.launch.cluster + ", shared " + kernel.launch.shared;
    case KernelPart::options: return list_of(kernel.options);
    case KernelPart::args: break;
  }
  return kernel.args == CudaArguments::params ? "params" : "positional";
}

}  // namespace

std::span<const char* const> KernelDescriptor::own_parts() const noexcept {
  return kKernelParts;
}

std::uint64_t KernelDescriptor::hash_of_part(std::size_t part) const noexcept {
  return operation::Hasher().add(text_of(value(), static_cast<KernelPart>(part))).hash();
}

std::string KernelDescriptor::text_of_part(std::size_t part) const {
  const std::string text = text_of(value(), static_cast<KernelPart>(part));
  return text.empty() ? "none" : core::shortened(text);
}

bool KernelDescriptor::same_own_parts(const operation::Descriptor& other) const {
  const auto* const same = dynamic_cast<const KernelDescriptor*>(&other);
  if (same == nullptr) return false;
  const Resolved& a = value();
  const Resolved& b = same->value();
  return a.digest == b.digest && a.entry == b.entry && a.constants == b.constants &&
         a.zeroed == b.zeroed && a.launch == b.launch && a.options == b.options &&
         a.args == b.args && a.toolkit == b.toolkit;
}

std::string KernelDescriptor::json() const {
  return to_json(value());
}

std::vector<Access> KernelDescriptor::access() const {
  std::vector<Access> access = check(value(), tuning()).access;
  check_reference(value(), access);
  return access;
}

std::vector<std::size_t> KernelDescriptor::outputs() const {
  std::vector<std::size_t> outputs;
  for (std::size_t t = 0; t < tensors().size(); ++t) {
    const bool zeroed =
        std::ranges::find(value().zeroed, tensors()[t].name) != value().zeroed.end();
    if (zeroed || tensors()[t].access == Access::out) outputs.push_back(t);
  }
  return outputs;
}

operation::Plan KernelDescriptor::planned(const Tuning& tuning, const Target& target) const {
  // The body holds the descriptor's value by a copy: it may outlive the descriptor.
  KernelPlan plan = make_plan(std::make_shared<const Resolved>(value()), tuning, target);
  return {.kernel_name = plan.kernel->entry,
          .target = target,
          .body = std::make_shared<const KernelBody>(std::move(plan))};
}

operation::Plan KernelDescriptor::plan(const Target& target) const {
  return planned(tuning(), target);
}

operation::Plan KernelDescriptor::plan_with(const Tuning& tuning,
                                            const operation::Plan& plan) const {
  return planned(tuning, plan.target);
}

std::optional<operation::Plan> KernelDescriptor::light_plan(const operation::Plan&) const {
  return std::nullopt;
}

std::vector<Tuning> KernelDescriptor::tuning_candidates(const Target& target,
                                                        std::size_t budget) const {
  return candidates(value(), target, budget);
}

void KernelDescriptor::evaluate(const HostArguments& args) const {
  evaluate_reference(value(), args);
}

Verification KernelDescriptor::verify(const HostArguments& inputs,
                                      std::span<const void* const> actual,
                                      const VerifyOptions& options) const {
  return verify_reference(value(), inputs, actual, options);
}

bool KernelDescriptor::has_reference() const {
  return value().reference &&
         std::holds_alternative<CudaReference::Formula>(value().reference->source);
}

std::optional<ExpectedResults> KernelDescriptor::expected_results() const {
  return expected_of(value());
}

}  // namespace tilejit::cuda

namespace tilejit {

CudaKernel::operator Operation() const {
  return Operation(std::make_shared<const cuda::KernelDescriptor>(cuda::resolve(*this)));
}

const CudaKernel* cuda_kernel(const Operation& op) noexcept {
  const auto* const kernel = dynamic_cast<const cuda::KernelDescriptor*>(&op.descriptor());
  return kernel == nullptr ? nullptr : &kernel->value();
}

}  // namespace tilejit
