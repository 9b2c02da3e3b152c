#pragma once

#include <memory>
#include <mutex>

#include "formula/analysis.hpp"
#include "operation/descriptor.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::ops {

/// The interface to fused operations.
class FormulaDescriptor final : public operation::DescriptorOf<FormulaDescriptor, Fused> {
 public:
  using DescriptorOf::DescriptorOf;

  [[nodiscard]] std::span<const char* const> own_parts() const noexcept override;
  [[nodiscard]] std::uint64_t hash_of_part(std::size_t part) const noexcept override;
  [[nodiscard]] std::string text_of_part(std::size_t part) const override;
  [[nodiscard]] bool same_own_parts(const operation::Descriptor& other) const override;

  [[nodiscard]] std::string json() const override;
  [[nodiscard]] std::vector<Access> access() const override;
  [[nodiscard]] std::vector<std::size_t> outputs() const override;

  [[nodiscard]] operation::Plan plan(const Target& target) const override;
  [[nodiscard]] operation::Plan plan_with(const Tuning& tuning,
                                          const operation::Plan& plan) const override;
  [[nodiscard]] std::optional<operation::Plan> light_plan(
      const operation::Plan& full) const override;
  [[nodiscard]] std::vector<Tuning> tuning_candidates(const Target& target,
                                                      std::size_t budget) const override;

  void evaluate(const HostArguments& args) const override;
  [[nodiscard]] Verification verify(const HostArguments& inputs,
                                    std::span<const void* const> actual,
                                    const VerifyOptions& options) const override;

 private:
  /// The analysis; the first call makes it. Throws what `validate` throws.
  [[nodiscard]] std::shared_ptr<const formula::Analysis> analysis() const;

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const formula::Analysis> analysis_;
};

}  // namespace tilejit::ops
