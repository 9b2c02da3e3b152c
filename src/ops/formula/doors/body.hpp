#pragma once

#include <memory>

#include "formula/analysis.hpp"
#include "operation/plan.hpp"
#include "plan/plan.hpp"

namespace tilejit::ops {

/// The plan of a fused operation as all code after planning sees it.
class FormulaBody final : public operation::Body {
 public:
  /// `analysis` is that of the operation, and `plan` was made of it with the knobs `pinned`.
  /// `of_parts` are the analyses of the plan's parts.
  FormulaBody(std::shared_ptr<const formula::Analysis> analysis, Tuning pinned, plan::Plan plan,
              std::vector<formula::Analysis> of_parts = {});

  [[nodiscard]] const formula::Analysis& analysis() const noexcept { return *analysis_; }
  [[nodiscard]] const plan::Plan& plan() const noexcept { return plan_; }

  [[nodiscard]] std::string_view family() const override;
  [[nodiscard]] std::string json() const override;
  [[nodiscard]] std::string_view generator() const override;
  [[nodiscard]] operation::Source source() const override;
  [[nodiscard]] std::string header() const override;
  [[nodiscard]] const operation::Signature& signature() const override;
  [[nodiscard]] operation::LaunchPlan launch() const override;
  [[nodiscard]] std::string tuning_class() const override;
  [[nodiscard]] operation::Figures figures(const SymbolValues& symbols) const override;
  [[nodiscard]] std::string figures_json(const SymbolValues& symbols) const override;
  [[nodiscard]] std::string text(const SymbolValues& symbols) const override;
  [[nodiscard]] operation::Explanation explain(
      const SymbolValues& symbols,
      const std::optional<operation::Compiled>& compiled) const override;

 private:
  std::shared_ptr<const formula::Analysis> analysis_;
  Tuning pinned_;
  plan::Plan plan_;
  std::vector<formula::Analysis> of_parts_;
};

}  // namespace tilejit::ops
