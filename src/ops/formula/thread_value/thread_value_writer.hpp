#pragma once

#include "render/tiles_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_tv.cu.
class ThreadValueWriter final : public TilesWriter {
 public:
  ThreadValueWriter(const plan::Plan& plan, const plan::ThreadValue& tv, Budget& budget)
      : TilesWriter(plan, budget), tv_(tv) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override {
    return {"wide", "dependent"};
  }
  void write_constants() override { write_block(); }
  void write_behind_formula() override;
  /// Writes where threads and vectors lie in a tile, and where the tile lies.
  void write_places();
  /// Writes where the first element of a vector lies: the sum of the places of its thread, its
  /// value and its tile.
  void write_element();
  void write_vector();
  /// Declares the coordinates that `accesses` ask for, and how many elements of a vector exist.
  [[nodiscard]] std::string coordinates(const Code& accesses) const;

  const plan::ThreadValue& tv_;
};

}  // namespace tilejit::render
