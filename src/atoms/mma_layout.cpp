// Fragments of tensor-core instructions (PTX ISA, "Matrix Fragments"). All of them follow one rule:
// lane 4g + q holds, of a matrix of rows and columns, row g and in it the consecutive elements that
// fill its q-th register, or its q-th pair of sums; further registers are 8 rows below, then in the
// next columns.
#include "atoms/mma_atom.hpp"

namespace tilejit::atoms {
namespace {

/// A tuple, except that a single mode stands for itself.
Layout mode_of(const std::vector<Mode>& leaves) {
  std::vector<Layout> modes;
  for (const Mode& leaf : leaves) modes.emplace_back(IntTuple(leaf.extent), IntTuple(leaf.stride));
  if (modes.empty()) return {};
  return modes.size() == 1 ? modes[0] : make_layout(modes);
}

struct Fragment {
  int rows, columns;  ///< of the matrix, whose elements are numbered row + rows * column
  int warps;          ///< that share its rows, 16 each; 1: all rows
  int together;       ///< columns of a row that one thread holds, side by side
  bool keeps_ones;    ///< CuTe's text of wgmma's C has the extent of 1
};

Layout layout_of(const Fragment& f) {
  std::vector<Mode> lanes = {{4, f.rows * f.together}, {8, 1}};
  if (f.warps > 1) lanes.push_back({f.warps, 16});
  std::vector<Mode> values = {{f.together, f.rows},
                              {f.rows / f.warps / 8, 8},
                              {f.columns / (4 * f.together), 4 * f.together * f.rows}};
  if (!f.keeps_ones) std::erase_if(values, [](const Mode& mode) { return mode.extent == 1; });
  return make_layout({mode_of(lanes), mode_of(values)});
}

}  // namespace

Layout layout(const MmaAtom& atom, Operand operand) {
  const bool wide = atom.family == MmaFamily::wgmma;
  if (operand == Operand::c) return layout_of({atom.m, atom.n, wide ? 4 : 1, 2, wide});
  const int rows = operand == Operand::a ? atom.m : atom.n;
  if (in_shared_memory(atom, operand)) {
    const Layout all = make_layout({mode_of({{rows, 1}}), mode_of({{atom.k, rows}})});
    return make_layout({mode_of({{threads(atom), 0}}), all});
  }
  const int bytes = size_bytes(operand == Operand::a ? atom.a : atom.b);
  return layout_of({rows, atom.k, wide ? 4 : 1, bytes < 4 ? 4 / bytes : 1, false});
}

ElementLayouts element_layouts(const MmaAtom& atom, Operand operand) {
  const Layout whole = layout(atom, operand);
  const std::int64_t rows = operand == Operand::b ? atom.n : atom.m;
  std::vector<Layout> row, column;
  for (std::size_t i = 0; i < rank(whole); ++i) {
    std::vector<Mode> in_row, in_column;
    const Layout part = mode(whole, i);
    for (const Mode& leaf : part.leaves()) {  // a step is along rows or along columns
      const std::int64_t stride = leaf.stride.value();
      in_row.push_back({leaf.extent, stride < rows ? stride : 0});
      in_column.push_back({leaf.extent, stride < rows ? 0 : stride / rows});
    }
    row.push_back(mode_of(in_row));
    column.push_back(mode_of(in_column));
  }
  return {make_layout(row), make_layout(column)};
}

}  // namespace tilejit::atoms
