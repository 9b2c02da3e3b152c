#pragma once

#include "render/combining_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_light.cu.
class LightWriter final : public CombiningWriter {
 public:
  LightWriter(const plan::Plan& plan, const plan::Light& light, Budget& budget)
      : CombiningWriter(plan, light, light.direction, budget) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override { return {"dependent"}; }
  void write_behind_formula() override;
  void write_sharing() override;
  /// Writes the struct with the accumulators of all passes. Its functions take the number `pass`
  /// and do what this pass does.
  void write_passes();
};

}  // namespace tilejit::render
