#pragma once

#include "render/header_writer.hpp"
#include "render/passes.hpp"

namespace tilejit::render {

/// Writes the header for fused_map.cu.
class MapWriter final : public HeaderWriter {
 public:
  MapWriter(const plan::Plan& plan, const plan::Map& map, Budget& budget)
      : HeaderWriter(plan, budget), map_(map) {
    passes_.held = find_held();
  }

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override { return {"dependent"}; }
  void write_constants() override;
  void write_before_formula() override;
  void write_behind_formula() override;
  [[nodiscard]] expr::Slice formula() const override;
  [[nodiscard]] std::string given(expr::NodeId id) const override;
  [[nodiscard]] std::string own_parameters(bool outputs) const override;
  [[nodiscard]] std::string own_arguments(int i) const override;
  /// Per node: whether its value is computed once for all elements of a vector. The compiler would
  /// compute what follows a condition, such as that of a logarithm, for each of them.
  [[nodiscard]] std::vector<bool> find_held() const;
  void write_loads(const Code& loads);
  /// Declares what `accesses` needs to know about where vector v lies.
  void write_coordinates(Code accesses);

  const plan::Map& map_;
  Passes passes_;  ///< none, but with values that are held
};

}  // namespace tilejit::render
