#pragma once

#include "operation/plan.hpp"
#include "program/kernel_plan.hpp"

namespace tilejit::program {

/// The plan of a program as all code after planning sees it.
class ProgramBody final : public operation::Body {
 public:
  explicit ProgramBody(KernelPlan plan) : plan_(std::move(plan)) {}

  [[nodiscard]] std::string_view family() const override { return "program"; }
  [[nodiscard]] std::string json() const override { return to_json(plan_); }
  [[nodiscard]] std::string_view generator() const override { return generator_digest(); }
  [[nodiscard]] operation::Source source() const override;
  [[nodiscard]] std::string header() const override { return plan_.text; }
  [[nodiscard]] const operation::Signature& signature() const override { return plan_.signature; }
  [[nodiscard]] operation::LaunchPlan launch() const override { return launch_plan(plan_); }
  [[nodiscard]] std::string tuning_class() const override;
  [[nodiscard]] operation::Figures figures(const SymbolValues& symbols) const override;
  [[nodiscard]] std::string figures_json(const SymbolValues& symbols) const override;
  [[nodiscard]] std::string text(const SymbolValues& symbols) const override;
  [[nodiscard]] operation::Explanation explain(
      const SymbolValues& symbols,
      const std::optional<operation::Compiled>& compiled) const override;

  [[nodiscard]] const KernelPlan& plan() const noexcept { return plan_; }

 private:
  KernelPlan plan_;
};

}  // namespace tilejit::program
