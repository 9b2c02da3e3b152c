#include "atoms/tiled_mma.hpp"

#include <string>

#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit::atoms {
namespace {

/// One dimension of an operand.
struct Side {
  int tile, atom, groups;
};

void check(char name, const Side& side) {
  const int step = side.atom * side.groups;
  if (side.tile > 0 && step > 0 && side.tile % step == 0) return;
  throw Error(ErrorCode::invalid_layout, std::string("tile.") + name + " is " +
                                             std::to_string(side.tile) + "; write a multiple of " +
                                             std::to_string(step) +
                                             ", what the instruction and its groups cover");
}

}  // namespace

int threads(const TiledMma& mma) noexcept {
  return threads(mma.atom) * mma.groups.m * mma.groups.n * mma.groups.k;
}

Layout layout(const TiledMma& mma, Operand operand) {
  const Side m{mma.tile.m, mma.atom.m, mma.groups.m}, n{mma.tile.n, mma.atom.n, mma.groups.n},
      k{mma.tile.k, mma.atom.k, mma.groups.k};
  check('m', m);
  check('n', n);
  check('k', k);
  const Side& row = operand == Operand::b ? n : m;
  const Side& column = operand == Operand::c ? n : k;
  const Layout tile = column_major({row.tile, column.tile});
  const Layout atoms = zipped_divide(tile, {row.atom, column.atom});
  const Layout one = composition(mode(atoms, 0), layout(mma.atom, operand));
  const Layout rounds = zipped_divide(mode(atoms, 1), {row.groups, column.groups});
  const Layout along_rows = get(rounds, {0, 0}), along_columns = get(rounds, {0, 1});
  const auto shared = [](const Side& side) { return Layout(IntTuple(side.groups), IntTuple(0)); };
  const Layout thread =
      operand == Operand::a   ? make_layout({mode(one, 0), along_rows, shared(n), along_columns})
      : operand == Operand::b ? make_layout({mode(one, 0), shared(m), along_rows, along_columns})
                              : make_layout({mode(one, 0), along_rows, along_columns, shared(k)});
  return make_layout({thread, make_layout({mode(one, 1), mode(rounds, 1)})});
}

}  // namespace tilejit::atoms
