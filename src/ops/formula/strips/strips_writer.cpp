#include "strips/strips_writer.hpp"

#include <fmt/format.h>

#include "rows/rows.hpp"
#include "strips/strips.hpp"

namespace tilejit::render {

using plan::Operand;

std::vector<std::string_view> StripsWriter::own_headers() const {
  std::vector<std::string_view> headers = {"wide", "reduce"};
  if (strips_.cluster > 1) headers.emplace_back("cluster_reduce");
  headers.insert(headers.end(), {"dependent", "strips"});
  return headers;
}

void StripsWriter::write_sharing() {
  line(fmt::format("enum : int {{ kColumns = {}, kSector = {} }};  // of a strip, of a sector",
                   strips_.columns, plan::columns_of_sector(plan_)));
  line(fmt::format("enum : int {{ kRegisterVectors = {} }};  // per thread",
                   strips_.register_vectors));
  line(fmt::format("enum : int {{ kHeldVectors = {} }};  // of these in registers", strips_.held));
  line(fmt::format("enum : int {{ kStagedBytes = {}, kSharedBytes = {} }};",
                   plan::held_bytes(plan_, strips_), plan::exchanged_bytes(plan_, strips_)));
  write_steps();
  line("extern __shared__ __align__(16) unsigned char staging[];");
}

std::string StripsWriter::row_members() const {
  return "  i64 at;  // where the thread's first vector begins, in elements\n"
         "  int column;  // of its first element, in the strip\n"
         "  int columns;  // that the strip reduces\n"
         "  int begin, end;  // elements of its vectors that the strip stores\n";
}

std::string StripsWriter::coordinate(std::size_t m) const {
  return m == 0 ? "i64(c0) * kColumns" : RowsWriter::coordinate(m);
}

void StripsWriter::write_behind_formula() {
  RowsWriter::write_behind_formula();
  line("");
  write_place();
  write_bring();
}

void StripsWriter::write_place() {
  const Operand& first = plan_.operands.front();
  line("// Sets where the vectors of a lane begin whose first row is row `first` of the columns.");
  line("TILE_DEVICE void place(const Params& p, Row& row, Index first, int lane) {");
  for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
    line(rows_.reduces(m) ? fmt::format("  const i64 c{} = first;", m)
                          : fmt::format("  const i64 c{0} = row.c{0};", m));
  }
  line(fmt::format("  const i64 from = {};", offset_of(first.modes).text.substr(3)));
  line(fmt::format("  const int rest = int({} - c0 * kColumns);", value_of(plan_.extents.front())));
  line("  const int shift = int(u32(from) % kVector);");
  line("  row.at = from - shift + lane * kVector;");
  line("  row.column = lane * kVector - shift;");
  line("  row.columns = rest < kColumns + kSector ? rest : kColumns + kSector - 1;");
  line("  // Nobody may store what another strip still has to reduce.");
  line(fmt::format("  const bool in_place = {};", is_in_place()));
  line("  const int begin = c0 == 0 || in_place ? 0 : before_sector<kSector>(from);");
  line("  const int end = kColumns + (in_place ? 0 : before_sector<kSector>(from + kColumns));");
  line("  row.begin = begin - row.column;");
  line("  row.end = (rest <= kColumns || end > rest ? rest : end) - row.column;\n}\n");
}

/// Whether an output takes the place of an input, which its caller may decide.
std::string StripsWriter::is_in_place() const {
  std::string all;
  for (const Operand& from : plan_.operands) {
    for (const Operand& to : plan_.operands) {
      if (!from.read || !to.written) continue;
      if (from.tensor == to.tensor) return "true";
      all += fmt::format("{}static_cast<const void*>(p.t{}) == p.t{}", all.empty() ? "" : " || ",
                         from.tensor, to.tensor);
    }
  }
  return all;
}

std::string StripsWriter::begin_of_vector() const {
  const plan::OperandMode& along = plan_.operands.front().modes[rows_.first];
  return fmt::format("row.at + i64(v) * {}", value_of(Dim(strips_.row_threads) * along[0].stride));
}

void StripsWriter::write_bring() {
  line("// Begins to copy vector v of a thread to shared memory.");
  line("TILE_DEVICE void bring(const Params& p, const Row& row, Index v) {");
  for (const Operand& operand : plan_.operands) {
    if (!operand.read) continue;
    const std::string end = tail_of(operand) == 0 ? "" : ", " + end_of(operand);
    line(fmt::format("  bring_vector<kVector>({}, p.t{} + {}{});", source_of(operand).text,
                     operand.tensor, begin_of_vector(), end));
  }
  line("}");
}

Code StripsWriter::source_of(const Operand& operand) const {
  const int bytes = plan_.vector * size_bytes(operand.dtype);
  return {.text = fmt::format(
              "reinterpret_cast<{}*>(staging + {} + (v * kThreads + threadIdx.x) * {})",
              expr::storage_type(operand.dtype), plan::held_place(plan_, strips_, operand), bytes)};
}

Code StripsWriter::destination_of(const Operand& operand) const {
  return {.text = fmt::format("part_at(p.t{} + {}, row.begin, row.end)", operand.tensor,
                              begin_of_vector())};
}

}  // namespace tilejit::render
