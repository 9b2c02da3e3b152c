// How blocks pass outputs and inputs that lie along rows through shared memory, if vectors lie
// across.
#include <fmt/format.h>

#include "rows/rows.hpp"
#include "rows/rows_writer.hpp"
#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"

namespace tilejit::render {

using plan::Operand;

/// Writes where the block's rows begin in the outputs that are turned, and how these are stored.
void RowsWriter::write_turned() {
  const std::int64_t columns = plan::turned_columns(plan_, rows_);
  std::int64_t place = plan::turned_begins(plan_, rows_);
  Code begins;
  std::string takes;
  for (const Operand& operand : plan_.operands) {
    if (!turns(operand)) continue;
    const std::string of_rows = fmt::format("reinterpret_cast<i64*>(turned_outputs + {})", place);
    Code begin = offset_among(operand.modes, Among::kept);
    begin.text = fmt::format("    {}[i] = exists ? i64(e) * {}{} : -1;\n", of_rows,
                             CombiningWriter::stride_of(operand), begin.text);
    begins += begin;
    takes += fmt::format(
        "  take_turned<kThreads, {}, kRowThreads, kCluster, kTurned, {}>(p.t{}, {}, {}, before, "
        "row_length(p));\n",
        columns, plan::turned_pitch(plan_, rows_, operand), operand.tensor, turned_outputs(operand),
        of_rows);
    place += plan::kBytesOfBegin * columns;
  }
  write_begins("begin_turned", "index < u32(p.total)", columns, begins);
  line("// Stores these outputs, from element `before` of the rows on.");
  line("TILE_DEVICE void store_turned(const Params& p, Index before) {\n" + takes + "}");
}

void RowsWriter::write_begins(const char* function, std::string_view exists, std::int64_t columns,
                              const Code& begins) {
  line("\n// Finds where the block's rows begin in operands that pass through shared memory.");
  line(fmt::format("TILE_DEVICE void {}(const Params& p, u32 first) {{", function));
  line(fmt::format("  for (int i = threadIdx.x; i < {}; i += kThreads) {{", columns));
  line("    const u32 index = first + i / kAcross, e = i % kAcross;");
  line("    const Row row = row_at(p, index < u32(p.total) ? index : 0);");
  line(fmt::format("    const bool exists = {}{};", exists,
                   plan_.ragged ? " && int(e) < row.valid" : ""));
  for (const std::size_t m : begins.coordinates)
    line(fmt::format("    const i64 c{0} = row.c{0};", m));
  out_ += begins.text;
  line("  }\n}\n");
}

bool RowsWriter::turns_input(const Operand& operand) const {
  return rows_.turned_inputs > 0 && plan::is_turned_input(plan_, rows_, operand);
}

void RowsWriter::write_turning_of_inputs() {
  line("#define TURNS_INPUTS 1  // some of them pass through shared memory");
  line(fmt::format("enum : int {{ kTurnedInputs = {} }};  // vectors of a thread at once",
                   rows_.turned_inputs));
  line(fmt::format("alignas(16) __shared__ unsigned char turned_inputs[{}];",
                   plan::turned_input_bytes(plan_, rows_)));
}

std::string RowsWriter::turned_input(const Operand& operand) const {
  return fmt::format("reinterpret_cast<{}*>(turned_inputs + {})", expr::storage_type(operand.dtype),
                     plan::turned_input_place(plan_, rows_, operand));
}

Code RowsWriter::turned_source_of(const Operand& operand) const {
  return {.text = fmt::format("{} + row.column * {} + row.place", turned_input(operand),
                              plan::turned_input_pitch(rows_, operand))};
}

/// Writes where the block's rows begin in the inputs that are turned, and how these are brought.
void RowsWriter::write_turned_inputs() {
  const std::int64_t columns = plan::turned_columns(plan_, rows_);
  std::int64_t place = plan::turned_input_begins(plan_, rows_);
  Code begins;
  std::string brings;
  for (const Operand& operand : plan_.operands) {
    if (!turns_input(operand)) continue;
    const std::string of_rows = fmt::format("reinterpret_cast<i64*>(turned_inputs + {})", place);
    Code begin = offset_among(operand.modes, Among::kept);
    begin.text = fmt::format("    {}[i] = exists ? i64(e) * {}{} : -1;\n", of_rows,
                             CombiningWriter::stride_of(operand), begin.text);
    begins += begin;
    brings += fmt::format(
        "  bring_turned<kThreads, {}, kRowThreads, kCluster, kTurnedInputs, {}, {}>({}, {}, {}, "
        "before, row_length(p));\n",
        columns, plan::turned_input_pitch(rows_, operand), plan::turned_copy(plan_, rows_, operand),
        turned_input(operand), base_of(operand), of_rows);
    place += plan::kBytesOfBegin * columns;
  }
  // Threads of rows that do not exist take the first one's.
  write_begins("begin_turned_inputs", "true", columns, begins);
  line("// Brings these inputs, from element `before` of the rows on.");
  line("TILE_DEVICE void bring_turned_inputs(const Params& p, Index before) {\n" + brings + "}");
}

}  // namespace tilejit::render
