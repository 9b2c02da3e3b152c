#include "tilejit/operation.hpp"

#include <utility>

#include "core/json_line.hpp"
#include "operation/descriptor.hpp"

namespace tilejit {

Operation::Operation(std::shared_ptr<const operation::Descriptor> descriptor) noexcept
    : descriptor_(std::move(descriptor)) {}

const std::string& Operation::name() const noexcept {
  return descriptor_->name();
}

const std::vector<Symbol>& Operation::symbols() const noexcept {
  return descriptor_->symbols();
}

const std::vector<Tensor>& Operation::tensors() const noexcept {
  return descriptor_->tensors();
}

const std::vector<Scalar>& Operation::scalars() const noexcept {
  return descriptor_->scalars();
}

const Tuning& Operation::tuning() const noexcept {
  return descriptor_->tuning();
}

Operation Operation::with_tuning(Tuning tuning) const {
  return descriptor_->with_tuning(std::move(tuning));
}

Operation Operation::with_tensors(std::vector<Symbol> symbols, std::vector<Tensor> tensors) const {
  return descriptor_->with_tensors(std::move(symbols), std::move(tensors));
}

bool Operation::operator==(const Operation& other) const {
  return descriptor_ == other.descriptor_ || descriptor_->equals(*other.descriptor_);
}

void validate(const Operation& op) {
  (void)op.descriptor().access();
}

std::vector<Access> resolve_access(const Operation& op) {
  return op.descriptor().access();
}

std::string to_json(const Operation& op) {
  return core::indented(op.descriptor().json());
}

bool has_reference(const Operation& op) {
  return op.descriptor().has_reference();
}

std::optional<ExpectedResults> expected_results(const Operation& op) {
  return op.descriptor().expected_results();
}

void evaluate(const Operation& op, const HostArguments& args) {
  op.descriptor().evaluate(args);
}

Verification verify(const Operation& op, const HostArguments& inputs,
                    std::span<const void* const> actual, const VerifyOptions& options) {
  return op.descriptor().verify(inputs, actual, options);
}

}  // namespace tilejit
