#include "program/descriptor.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/text.hpp"
#include "operation/hasher.hpp"
#include "program/candidates.hpp"
#include "program/check.hpp"
#include "program/json.hpp"
#include "program/program_body.hpp"
#include "program/tl_writer.hpp"
#include "spec/common.hpp"

namespace tilejit::program {
namespace {

/// Everything that is not a member of all operations: its TL text has it.
constexpr const char* kProgramParts[] = {"/body"};

}  // namespace

std::span<const char* const> ProgramDescriptor::own_parts() const noexcept {
  return kProgramParts;
}

std::uint64_t ProgramDescriptor::hash_of_part(std::size_t) const noexcept {
  return operation::Hasher().add(tl_text(value())).hash();
}

std::string ProgramDescriptor::text_of_part(std::size_t) const {
  return core::shortened(tl_text(value()));
}

bool ProgramDescriptor::same_own_parts(const operation::Descriptor& other) const {
  const auto* const same = dynamic_cast<const ProgramDescriptor*>(&other);
  return same != nullptr && same->value() == value();
}

std::string ProgramDescriptor::json() const {
  return spec::text_of(program_json(value()), name());
}

std::vector<Access> ProgramDescriptor::access() const {
  return check(value(), tuning()).access;
}

std::vector<std::size_t> ProgramDescriptor::outputs() const {
  const std::vector<Access> uses = access();
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == Access::out) outputs.push_back(i);
  }
  return outputs;
}

operation::Plan ProgramDescriptor::planned(const Tuning& tuning, const Target& target) const {
  // The body holds the descriptor's value by a copy: it may outlive the descriptor.
  KernelPlan plan = make_plan(std::make_shared<const TileProgram>(value()), tuning, target);
  return {.kernel_name = plan.entry,
          .target = target,
          .body = std::make_shared<const ProgramBody>(std::move(plan))};
}

operation::Plan ProgramDescriptor::plan(const Target& target) const {
  return planned(tuning(), target);
}

operation::Plan ProgramDescriptor::plan_with(const Tuning& tuning,
                                             const operation::Plan& plan) const {
  return planned(tuning, plan.target);
}

std::optional<operation::Plan> ProgramDescriptor::light_plan(const operation::Plan&) const {
  return std::nullopt;
}

std::vector<Tuning> ProgramDescriptor::tuning_candidates(const Target& target,
                                                         std::size_t budget) const {
  return candidates(value(), target, budget);
}

void ProgramDescriptor::evaluate(const HostArguments& args) const {
  TileProgram program = value();
  program.tuning = tuning();
  interpret(program, args);
}

Verification ProgramDescriptor::verify(const HostArguments& inputs,
                                       std::span<const void* const> actual,
                                       const VerifyOptions& options) const {
  const auto formula = verify_formula(value());
  if (formula) return tilejit::verify(*formula, inputs, actual, options);
  throw Error(ErrorCode::unsupported,
              "program '" + name() +
                  "' names nothing to compare with; add 'Verify' and a formula to its header",
              "/verify");
}

}  // namespace tilejit::program

namespace tilejit {

TileProgram::operator Operation() const {
  return Operation(std::make_shared<const program::ProgramDescriptor>(*this));
}

const TileProgram* tile_program(const Operation& op) noexcept {
  const auto* const program = dynamic_cast<const program::ProgramDescriptor*>(&op.descriptor());
  return program == nullptr ? nullptr : &program->value();
}

}  // namespace tilejit
