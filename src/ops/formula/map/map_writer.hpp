#pragma once

#include "render/header_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_map.cu.
class MapWriter final : public HeaderWriter {
 public:
  MapWriter(const plan::Plan& plan, const plan::Map& map, Budget& budget)
      : HeaderWriter(plan, budget), map_(map) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override { return {"dependent"}; }
  void write_constants() override;
  void write_behind_formula() override;
  void write_loads(const Code& loads);
  /// Declares what `accesses` needs to know about where vector v lies.
  void write_coordinates(Code accesses);

  const plan::Map& map_;
};

}  // namespace tilejit::render
