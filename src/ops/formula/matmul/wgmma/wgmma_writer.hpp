#pragma once

#include "matmul/matmul_writer.hpp"
#include "wgmma/family.hpp"

namespace tilejit::render {

/// Writes the header for matmul_wgmma.cu: the struct Work that tile/warpgroup_matmul.cuh asks for.
class MatmulWgmmaWriter : public MatmulWriter {
 public:
  MatmulWgmmaWriter(const plan::Plan& plan, const plan::MatmulWgmma& product, Budget& budget)
      : MatmulWriter(plan, product, budget), wgmma_(product) {}

 protected:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_constants() override;
  void write_behind_formula() override;
  [[nodiscard]] int cluster() const override { return wgmma_.cluster; }
  [[nodiscard]] int beside() const override { return wgmma_.beside; }
  [[nodiscard]] bool takes_rank() const override { return true; }
  [[nodiscard]] int group_of_tiles() const override;
  [[nodiscard]] int sums_of_panel() const override { return plan::sums_of_panel(wgmma_); }

  void write_tiles() override;
  /// struct SourceA or SourceB: the boxes of a tile.
  void write_boxes(char letter, atoms::Operand operand);
  void write_inside(bool left, const plan::BoxesOfTile& boxes, int along_k);
  /// The formula on pairs of sums in registers, and where results are stored 16 bytes at a time.
  void write_pair();
  /// What is reduced along the rows of A.
  void write_statistic();
  void write_pair_map();
  void write_pair_reduction();
  void write_sums(std::string_view sum);
  void write_stored();
  /// What is reduced along N, and the node of reduction `r`.
  void write_reductions();
  [[nodiscard]] const expr::Node& reduced(std::size_t r) const;
  [[nodiscard]] std::vector<bool> nodes_of_reductions() const;
  void write_finish();
  void write_work();

  const plan::MatmulWgmma& wgmma_;
};

}  // namespace tilejit::render
