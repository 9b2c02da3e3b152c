// Weights, inputs that all rows share: which threads load before they store what needs them.
#include <algorithm>
#include <variant>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "rows/rows.hpp"
#include "rows/rows_writer.hpp"

namespace tilejit::render {
namespace {

constexpr int kRegistersOfWeights = 16;  // that a thread loads before it stores
constexpr int kRegistersOfBatch = 24;    // that a thread loads with their weights
constexpr int kBytesOfRegister = 4;

}  // namespace

using plan::Operand;

/// Whether outputs need the input, which all rows share, and it does not come with these.
bool RowsWriter::comes_for_outputs(const Operand& operand) const {
  return operand.every_row && plan::varies_in_row(operand, rows_) && !is_loaded(operand) &&
         asked_by_formula().tensors[static_cast<std::size_t>(operand.tensor)];
}

bool RowsWriter::is_weight(const Operand& operand) const {
  return weights_at_once() > 1 && comes_for_outputs(operand);
}

/// Vectors of a thread that have their weights loaded before one of them is stored. Those of 16
/// bytes are few if rows are held, and would take registers from other threads. Of rows that are
/// read again, all of a batch have them if few registers hold both.
int RowsWriter::weights_at_once() const {
  const bool own = std::holds_alternative<plan::Rows>(plan_.family);  // the template
  const bool held = rows_.register_vectors > 0;
  const int vectors = held ? rows_.register_vectors : plan_.unroll;
  if (!own || !rows_.along() || vectors < 2 || rows_.turned > 0 || keeps_inputs() || plan_.ragged)
    return 1;
  int registers = 0;
  for (const Operand& operand : plan_.operands) {
    if (!comes_for_outputs(operand)) continue;
    const int elements = operand.reach == plan::Reach::broadcast ? 1 : plan_.vector;
    const int bytes = elements * size_bytes(operand.dtype);
    if (held && bytes >= device::kWidestAccess) return 1;
    registers += core::ceil_div(bytes, kBytesOfRegister);
  }
  if (registers == 0) return 1;
  if (held) return std::clamp(kRegistersOfWeights / registers, 1, vectors);
  const int of_vector = plan::registers_of_vector(plan_, rows_) + registers;
  return vectors * of_vector <= kRegistersOfBatch ? vectors : 1;
}

}  // namespace tilejit::render
