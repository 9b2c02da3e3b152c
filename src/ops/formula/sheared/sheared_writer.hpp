#pragma once

#include "render/tiles_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_sheared.cu. Lines of operands that are contiguous along another mode
/// cross shared memory.
class ShearedWriter final : public TilesWriter {
 public:
  ShearedWriter(const plan::Plan& plan, const plan::Sheared& sheared, Budget& budget)
      : TilesWriter(plan, budget), sheared_(sheared) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override {
    return {"turned_lines", "wide", "dependent"};
  }
  void write_constants() override;
  void write_behind_formula() override;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const override;

  void write_shared();
  void write_tile();
  void write_lines();
  void write_vector();
  /// Declares the coordinates of a vector's first element and which of its elements exist.
  [[nodiscard]] std::string place_of_vector(const Code& accesses) const;

  const plan::Sheared& sheared_;
};

}  // namespace tilejit::render
