#include "figures/of_families.hpp"

#include "tile/tiling.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit::figures {

using plan::Operand;
using plan::Plan;
using plan::Reach;

Sentences why(const Plan& plan, const plan::Tile&) {
  std::string transposed;
  for (const Operand& operand : plan.operands) {
    if (operand.reach != Reach::transposed) continue;
    transposed += (transposed.empty() ? "" : ", ") + name_of(plan, operand);
  }
  return {transposed +
          " lies contiguous along another mode than the first output, so tiles are transposed in "
          "shared memory and both sides keep wide accesses."};
}

ThreadValues values_of(const Plan& plan, const plan::Tile& tile) {
  const Dim columns = tile.columns, rows = tile.rows;
  const Dim run = Dim(plan.threads) * plan.vector;
  const Dim vectors = *Dim::divide(columns * rows, run);
  return {tuple_of({columns, rows}), make_layout({Layout(plan.threads, plan.vector),
                                                  flat_layout({plan.vector, vectors}, {1, run})})};
}

ModesOfTile modes_of_tile(const Plan&, const plan::Tile& tile) {
  return {{0}, {tile.mode}};
}

int vectors_ahead(const Plan& plan, const plan::Tile& tile, const Operand& operand) {
  const int of_squares = plan.vector * plan.unroll;
  if (operand.reach == Reach::transposed) return of_squares;
  return tile.copies == of_squares ? of_squares : 1;
}

std::int64_t shared_bytes(const Plan& plan, const plan::Tile& tile) {
  return plan::shared_bytes(plan.operands, tile, plan.vector);
}

ThreadValues transposed_values(const Plan& plan, const plan::Tile& tile, const Operand&) {
  const Dim columns = tile.columns, rows = tile.rows, vector = plan.vector;
  const Dim down = *Dim::divide(rows, vector), across = *Dim::divide(columns, vector);
  const Layout squares = composition(flat_layout({down, across}, {vector * columns, vector}),
                                     flat_layout({plan.threads, plan.unroll}, {1, plan.threads}));
  const Layout square = flat_layout({vector, vector}, {columns, 1});
  return {tuple_of({columns, rows}),
          make_layout({mode(squares, 0),
                       make_layout({mode(square, 0), mode(square, 1), mode(squares, 1)})})};
}

}  // namespace tilejit::figures
