#pragma once

#include <functional>
#include <string>
#include <vector>

#include "matmul/family.hpp"
#include "render/tiles_writer.hpp"

namespace tilejit::render {

/// The index that the leaves give at the coordinate of that text; "0" if it is always 0.
[[nodiscard]] std::string index_text(const std::vector<Mode>& leaves, const std::string& at,
                                     const std::function<std::string(const Dim&)>& value_of);

/// Writes the headers for matmul_mma.cu and matmul_simt.cu: the struct Work that tile/matmul.cuh
/// asks for, and what differs between the two, which are `product` and its shared layouts.
class MatmulWriter : public TilesWriter {
 protected:
  MatmulWriter(const plan::Plan& plan, const plan::Matmul& product, Budget& budget)
      : TilesWriter(plan, budget), product_(product) {}

  /// The struct of the instruction, if there is one, and the types LayoutA and LayoutB.
  virtual void write_tiles() = 0;
  /// "BlockProduct<...>"; and what an operand's elements become on their way to shared memory: in
  /// general, and the type if they are computed.
  [[nodiscard]] virtual std::string product_type() const { return {}; }
  [[nodiscard]] virtual std::string entry_type(const plan::OperandSource&) const { return {}; }
  [[nodiscard]] virtual std::string computed_type(const plan::OperandSource&) const { return {}; }

  [[nodiscard]] std::string warps() const;
  void write_constants() override;
  void write_behind_formula() override;
  [[nodiscard]] expr::Slice formula() const override;
  /// Blocks of a cluster whose tiles lie below each other, and beside each other; and rows of tiles
  /// that are taken column by column.
  [[nodiscard]] virtual int cluster() const { return 1; }
  [[nodiscard]] virtual int beside() const { return 1; }
  [[nodiscard]] virtual bool takes_rank() const { return false; }
  [[nodiscard]] virtual int group_of_tiles() const { return 8; }
  /// Sums of one product in shared memory, after which those of the second one lie.
  [[nodiscard]] virtual int sums_of_panel() const { return 0; }
  /// Where a block's tile lies, and where a vector of the result lies in it.
  void write_places();
  void write_vector();
  /// What Work has for tile/sums_by_vectors.cuh, with panels of that many columns.
  void write_sums_by_vectors(int panel, bool along_m);
  [[nodiscard]] std::string coordinates(const Code& accesses) const;
  /// The sums of an element that the formula takes: "sum", and "sum1" of the second product.
  [[nodiscard]] std::vector<std::string> sums() const;
  [[nodiscard]] const Dim& extent_m() const { return plan_.extents[product_.along_m ? 0 : 1]; }
  [[nodiscard]] const Dim& extent_n() const { return plan_.extents[product_.along_m ? 1 : 0]; }
  /// The nodes from which `roots` are computed, as far as products and reductions are given.
  [[nodiscard]] static std::vector<bool> values_behind(const expr::Program& program,
                                                       const std::vector<expr::NodeId>& roots);
  /// Without the namespace around it: parts of a kernel have namespaces of their own.
  [[nodiscard]] static std::string without_namespace(const std::string& text);

  [[nodiscard]] std::string index_of(const std::vector<Mode>& leaves, const std::string& at) const;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const override;
  [[nodiscard]] std::string given(expr::NodeId id) const override;
  [[nodiscard]] std::string own_parameters(bool outputs) const override;
  [[nodiscard]] std::string own_arguments(int i) const override;

  const plan::Matmul& product_;

 private:
  /// How an operand's elements are computed, if they are: struct EntryA or EntryB.
  void write_entry(char letter, int tensor, const plan::OperandSource& source);
  [[nodiscard]] std::string entry_of(char letter, const plan::OperandSource& source) const;
  /// Where an operand's matrix lies: struct SourceA or SourceB.
  void write_source(char letter, const plan::OperandSource& source, const Dim& rows, int tile_rows);
  void write_work();
  void write_matrix(char letter, int tensor, const plan::OperandSource& source);
};

class MatmulMmaWriter final : public MatmulWriter {
 public:
  MatmulMmaWriter(const plan::Plan& plan, const plan::MatmulMma& product, Budget& budget)
      : MatmulWriter(plan, product, budget), mma_(product) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_tiles() override;
  [[nodiscard]] std::string product_type() const override;
  [[nodiscard]] std::string entry_type(const plan::OperandSource& source) const override;
  [[nodiscard]] std::string computed_type(const plan::OperandSource& source) const override;

  const plan::MatmulMma& mma_;
};

class MatmulSimtWriter final : public MatmulWriter {
 public:
  MatmulSimtWriter(const plan::Plan& plan, const plan::MatmulSimt& product, Budget& budget)
      : MatmulWriter(plan, product, budget), simt_(product) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_tiles() override;
  [[nodiscard]] std::string product_type() const override;
  [[nodiscard]] std::string entry_type(const plan::OperandSource& source) const override;
  [[nodiscard]] std::string computed_type(const plan::OperandSource& source) const override;

  const plan::MatmulSimt& simt_;
};

}  // namespace tilejit::render
