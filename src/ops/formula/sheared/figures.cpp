#include <string>

#include "device/access.hpp"
#include "figures/of_families.hpp"
#include "sheared/shearing.hpp"

namespace tilejit::figures {

using plan::Operand;
using plan::Plan;
using plan::Reach;

Sentences why(const Plan& plan, const plan::Sheared&) {
  std::string transposed;
  for (const Operand& operand : plan.operands) {
    if (operand.reach != Reach::transposed) continue;
    transposed += (transposed.empty() ? "" : ", ") + name_of(plan, operand);
  }
  return {transposed +
          " lies contiguous along another mode than the first output, and rows are not aligned, so "
          "each row of a tile begins where a sector of its memory does; lines of " +
          transposed + " are loaded in aligned words and shifted."};
}

int vectors_ahead(const Plan& plan, const plan::Sheared& sheared, const Operand& operand) {
  const bool ahead = operand.reach == Reach::transposed || sheared.copies == plan.unroll;
  return ahead ? plan.unroll : 1;
}

std::int64_t shared_bytes(const Plan& plan, const plan::Sheared& sheared) {
  return plan::shared_bytes(plan, sheared);
}

ThreadValues transposed_values(const Plan& plan, const plan::Sheared& sheared,
                               const Operand& operand) {
  constexpr int kWarp = 32;
  const Dim columns = sheared.columns, rows = sheared.rows, warps = plan.threads / kWarp;
  const Dim word = device::kBankBytes / size_bytes(operand.dtype);
  return {tuple_of({columns, rows}),
          make_layout(
              {flat_layout({kWarp, warps}, {word * columns, 1}),
               flat_layout({word, *Dim::divide(rows, word * kWarp), *Dim::divide(columns, warps)},
                           {columns, word * kWarp * columns, warps})})};
}

}  // namespace tilejit::figures
