#pragma once

#include "cuda/plan.hpp"
#include "operation/plan.hpp"

namespace tilejit::cuda {

/// The plan of a kernel as all code after planning sees it.
class KernelBody final : public operation::Body {
 public:
  explicit KernelBody(KernelPlan plan) : plan_(std::move(plan)) {}

  [[nodiscard]] std::string_view family() const override { return "cuda"; }
  [[nodiscard]] std::string json() const override;
  [[nodiscard]] std::string_view generator() const override;
  [[nodiscard]] operation::Source source() const override;
  [[nodiscard]] std::vector<std::string> options() const override;
  [[nodiscard]] std::string header() const override;
  [[nodiscard]] const operation::Signature& signature() const override { return plan_.signature; }
  [[nodiscard]] operation::LaunchPlan launch() const override;
  [[nodiscard]] std::string tuning_class() const override;
  [[nodiscard]] operation::Figures figures(const SymbolValues& symbols) const override;
  [[nodiscard]] std::string figures_json(const SymbolValues& symbols) const override;
  [[nodiscard]] std::string text(const SymbolValues& symbols) const override;
  [[nodiscard]] operation::Explanation explain(
      const SymbolValues& symbols,
      const std::optional<operation::Compiled>& compiled) const override;

 private:
  KernelPlan plan_;
};

}  // namespace tilejit::cuda
