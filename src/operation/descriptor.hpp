#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operation/plan.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::operation {

/// The interface of an operation: everything that the library asks of one. Its implementation is in
/// its own folder below src/ops/. Immutable. Const member functions are thread-safe; those that
/// need a valid descriptor throw what `validate` throws.
class Descriptor {
 public:
  virtual ~Descriptor() = default;

  // Members that every operation has.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<Symbol>& symbols() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<Tensor>& tensors() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<Scalar>& scalars() const noexcept = 0;
  [[nodiscard]] virtual const Tuning& tuning() const noexcept = 0;
  [[nodiscard]] virtual Operation with_tuning(Tuning tuning) const = 0;
  [[nodiscard]] virtual Operation with_tensors(std::vector<Symbol> symbols,
                                               std::vector<Tensor> tensors) const = 0;
  [[nodiscard]] virtual bool equals(const Descriptor& other) const = 0;

  // The operation's own parts, by number: requests are compared by them, and misses report them.
  /// The place of each part in the descriptor: "/formula".
  [[nodiscard]] virtual std::span<const char* const> own_parts() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t hash_of_part(std::size_t part) const noexcept = 0;
  [[nodiscard]] virtual std::string text_of_part(std::size_t part) const = 0;
  [[nodiscard]] virtual bool same_own_parts(const Descriptor& other) const = 0;

  /// What tilejit::to_json returns, in one line without spaces.
  [[nodiscard]] virtual std::string json() const = 0;
  /// What resolve_access returns.
  [[nodiscard]] virtual std::vector<Access> access() const = 0;
  /// The tensors that the operation writes but does not read, ascending. Needs no layouts. Throws
  /// Error{invalid_formula}.
  [[nodiscard]] virtual std::vector<std::size_t> outputs() const = 0;

  /// Throws Error{invalid_spec} for knobs that cannot be honoured.
  [[nodiscard]] virtual Plan plan(const Target& target) const = 0;
  /// `plan`, which the member function `plan` made, with other knobs than those of this descriptor.
  [[nodiscard]] virtual Plan plan_with(const Tuning& tuning, const Plan& plan) const = 0;
  /// The plan that compiles fastest, with all knobs ignored. Nothing if `full`, made by `plan`, is
  /// as good.
  [[nodiscard]] virtual std::optional<Plan> light_plan(const Plan& full) const = 0;
  /// What tilejit::tuning_candidates returns.
  [[nodiscard]] virtual std::vector<Tuning> tuning_candidates(const Target& target,
                                                              std::size_t budget) const = 0;

  // The CPU reference: tilejit::evaluate and tilejit::verify.
  virtual void evaluate(const HostArguments& args) const = 0;
  [[nodiscard]] virtual Verification verify(const HostArguments& inputs,
                                            std::span<const void* const> actual,
                                            const VerifyOptions& options) const = 0;
  /// What tilejit::has_reference and tilejit::expected_results return.
  [[nodiscard]] virtual bool has_reference() const { return true; }
  [[nodiscard]] virtual std::optional<ExpectedResults> expected_results() const { return {}; }
};

/// The part of a Descriptor that all operations share. `Value` is a struct with the members name,
/// symbols, tensors, scalars and tuning, and operator==. `Self` derives from this class and is
/// constructed from a Value.
template <typename Self, typename Value>
class DescriptorOf : public Descriptor {
 public:
  explicit DescriptorOf(Value value) : value_(std::move(value)) {}

  [[nodiscard]] const Value& value() const noexcept { return value_; }
  [[nodiscard]] const std::string& name() const noexcept final { return value_.name; }
  [[nodiscard]] const std::vector<Symbol>& symbols() const noexcept final { return value_.symbols; }
  [[nodiscard]] const std::vector<Tensor>& tensors() const noexcept final { return value_.tensors; }
  [[nodiscard]] const std::vector<Scalar>& scalars() const noexcept final { return value_.scalars; }
  [[nodiscard]] const Tuning& tuning() const noexcept final { return value_.tuning; }

  [[nodiscard]] Operation with_tuning(Tuning tuning) const final {
    Value changed = value_;
    changed.tuning = std::move(tuning);
    return Operation(std::make_shared<const Self>(std::move(changed)));
  }
  [[nodiscard]] Operation with_tensors(std::vector<Symbol> symbols,
                                       std::vector<Tensor> tensors) const final {
    Value changed = value_;
    changed.symbols = std::move(symbols);
    changed.tensors = std::move(tensors);
    return Operation(std::make_shared<const Self>(std::move(changed)));
  }
  [[nodiscard]] bool equals(const Descriptor& other) const final {
    const auto* const same = dynamic_cast<const DescriptorOf*>(&other);
    return same != nullptr && same->value_ == value_;
  }

 private:
  Value value_;
};

}  // namespace tilejit::operation
