#include "staged/staged_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/integer.hpp"
#include "rows/rows.hpp"
#include "staged/runs.hpp"

namespace tilejit::render {

using plan::Operand;

std::vector<std::string_view> StagedWriter::own_headers() const {
  std::vector<std::string_view> headers = {
      "wide", goes_by_chunks() || shares_scanned_rows() ? "scan" : "reduce", "dependent",
      staged_.columns > 1 ? "slabs" : "staged"};
  add_headers_of_results(headers);
  return headers;
}

/// Threads that scan have neighbours, all of which exist or may not.
std::int64_t StagedWriter::whole_steps() const {
  const std::int64_t held = std::int64_t{rows_.row_threads} * rows_.register_vectors;
  const auto vectors = plan::vectors_in_row(plan_, rows_);
  const bool whole = vectors == held || (goes_by_chunks() && vectors && *vectors % held == 0) ||
                     scans_more_than_exists();
  if (whole) return rows_.register_vectors;
  return direction_ || goes_by_chunks() ? 0 : plan::whole_steps(plan_, rows_);
}

void StagedWriter::write_sharing() {
  line(fmt::format("enum : int {{ kBlockRows = {} }};  // rows of a block",
                   staged_.units_per_block(plan_)));
  line(fmt::format("enum : int {{ kColumns = {} }};  // rows side by side", staged_.columns));
  line(fmt::format("enum : int {{ kRegisterVectors = {} }};  // per thread",
                   rows_.register_vectors));
  line(fmt::format("enum : int {{ kWholeSteps = {} }};  // vectors that each thread has",
                   whole_steps()));
  line(fmt::format("#define SCANS_ROWS {:d}", direction_.has_value()));
  if (shares_scanned_rows())
    line("#define SHARES_SCANNED_ROWS 1  // whose parts threads fold and scan");
  line(fmt::format("#define GOES_BY_CHUNKS {:d}", goes_by_chunks()));
  if (goes_by_chunks()) {
    line(fmt::format("enum : int {{ kStages = {}, kStageBytes = {} }};  // chunks of a slab",
                     staged_.stages, plan::stage_bytes(plan_, staged_)));
    if (staged_.side > 0) {
      line("#define CUTS_SLABS 1");
      line(fmt::format("enum : u32 {{ kSide = {}, kStrips = {} }};  // columns, strips of a slab",
                       staged_.side, core::ceil_div(staged_.side, std::int64_t{staged_.columns})));
    }
  }
  line(plan::is_static(plan_, staged_)
           ? fmt::format("alignas(16) __shared__ unsigned char staging[{}];",
                         plan::staged_bytes(plan_, staged_))
           : "extern __shared__ __align__(16) unsigned char staging[];");
}

std::string StagedWriter::row_members() const {
  const std::string chunk = "  Index begin;  // of the chunk\n  unsigned char* runs;\n";
  const std::string strip = "  u32 from;  // where the block's strip begins, in elements\n";
  return "  u32 slot;  // its number among those of the block\n" + (goes_by_chunks() ? chunk : "") +
         (staged_.side > 0 ? strip : "");
}

void StagedWriter::write_behind_formula() {
  RowsWriter::write_behind_formula();
  line("");
  if (staged_.side > 0) return write_strips();
  if (goes_by_chunks()) return write_chunks();
  write_bring();
  write_take();
}

void StagedWriter::write_bring() {
  line("// Copies the inputs of `rows` rows, of which `first` is the first, to shared memory.");
  line("TILE_DEVICE void bring_rows(const Params& p, u32 first, int rows) {\n" +
       (staged_.columns > 1 ? copies_of_slabs() : copies_of_rows()) + "}\n");
}

std::string StagedWriter::copies_of_rows() const {
  std::string loads, keeps;
  for (const Operand& operand : plan_.operands) {
    if (plan::is_gathered(plan_, staged_, operand)) {
      keeps += gather_rows_of(operand);
      continue;
    }
    const auto pitch = plan::staged_pitch(plan_, operand);
    if (!pitch || !operand.read) continue;
    const int k = operand.tensor;
    loads += fmt::format(
        "  Run<{1}, kBlockRows * {2}, kThreads> run{0};\n"
        "  run{0}.load(p.t{0} + i64(first) * {2}, rows * {2});\n",
        k, expr::storage_type(operand.dtype), *pitch);
    keeps += fmt::format("  run{0}.store({1}, p.t{0} + i64(first) * {2}, rows * {2});\n", k,
                         run_of(operand), *pitch);
  }
  return loads + keeps;
}

std::string StagedWriter::gather_rows_of(const Operand& operand) const {
  Code address = offset_among(operand.modes, Among::kept);
  std::string coordinates;
  for (const std::size_t m : address.coordinates)
    coordinates += fmt::format("    const i64 c{0} = row.c{0};\n", m);
  const int unit = std::max(1, operand.access_bytes / size_bytes(operand.dtype));
  return fmt::format(
      "  gather_rows<{0}, {1}, kBlockRows, kThreads>({2}, rows, [&](u32 slot, u32 e) {{\n"
      "    const Row row = row_at(p, first + slot);\n{3}"
      "    return {4} + i64(e) * {5}{6};\n  }});\n",
      plan_.extents[0].value(), unit, run_of(operand), coordinates, base_of(operand),
      stride_of(operand), address.text);
}

std::string StagedWriter::copies_of_slabs() const {
  std::string copies;
  for (const Operand& operand : plan_.operands) {
    const auto pitch = plan::staged_pitch(plan_, operand);
    if (!pitch || !operand.read) continue;
    copies += fmt::format(
        "  bring_slabs<{0}>({1}, p.t{2} + i64(first) * {3}, rows * {3}, p.t{2} + p.total * {3});\n",
        copy_of(operand), run_of(operand), operand.tensor, *pitch);
  }
  return copies + "  async_copy_commit();\n  async_copy_wait<0>();\n";
}

void StagedWriter::write_take() {
  std::string stores;
  for (const Operand& operand : plan_.operands) {
    const auto pitch = plan::staged_pitch(plan_, operand);
    if (!pitch || !operand.written) continue;
    if (staged_.columns > 1) {
      stores += fmt::format("  take_slabs<{}>(p.t{} + i64(first) * {}, {}, rows * {});\n",
                            copy_of(operand), operand.tensor, *pitch, run_of(operand), *pitch);
      continue;
    }
    stores += fmt::format(
        "  store_run<kBlockRows * {1}, kThreads>(p.t{0} + i64(first) * {1}, {2}, rows * {1});\n",
        operand.tensor, *pitch, run_of(operand));
  }
  line("// Copies their full outputs to memory.");
  line("TILE_DEVICE void take_rows(const Params& p, u32 first, int rows) {\n" + stores + "}");
}

bool StagedWriter::stores_wide(const Operand& operand) const {
  return !plan::staged_pitch(plan_, operand);
}

std::string StagedWriter::copy_of(const Operand& operand) const {
  const std::int64_t bytes = plan_.extents[0].value() * staged_.columns * size_bytes(operand.dtype);
  return fmt::format("kThreads, {}, {}", std::max<std::int64_t>(1, bytes / 16),
                     plan::staged_pad(plan_, staged_, operand));
}

std::string StagedWriter::run_of(const Operand& operand, std::string_view runs) const {
  if (staged_.columns > 1) {
    return fmt::format("run_of_block<{}, kBlockRows * {}>({} + {})",
                       expr::storage_type(operand.dtype), *plan::staged_pitch(plan_, operand), runs,
                       plan::staged_place(plan_, staged_, operand));
  }
  return fmt::format("reinterpret_cast<{}*>({} + {})", expr::storage_type(operand.dtype), runs,
                     plan::staged_place(plan_, staged_, operand));
}

/// Whether threads may also scan what their last chunk has after the row's end: it is in shared
/// memory, and nothing follows it.
bool StagedWriter::scans_more_than_exists() const {
  return goes_by_chunks() && direction_ == plan::Direction::forward &&
         std::ranges::all_of(plan_.operands, [&](const Operand& operand) {
           return !plan::varies_in_row(operand, rows_) || plan::staged_pitch(plan_, operand);
         });
}

/// Writes the functions that copy a chunk of a block's slab: `count` elements of each row, from
/// `begin` on.
void StagedWriter::write_chunks() {
  std::string brings, takes;
  for (const Operand& operand : plan_.operands) {
    const auto pitch = plan::staged_pitch(plan_, operand);
    if (!pitch) continue;
    const std::string at = fmt::format("p.t{} + i64(blockIdx.x) * {} + i64(begin) * kColumns",
                                       operand.tensor, *pitch * staged_.columns);
    const std::string run = run_of(operand, "runs");
    if (operand.read) {
      brings +=
          fmt::format("  bring_chunk<kThreads>({}, {}, count * kColumns, p.t{} + p.total * {});\n",
                      run, at, operand.tensor, *pitch);
    }
    if (operand.written)
      takes += fmt::format("  take_chunk<kThreads>({}, {}, count * kColumns);\n", at, run);
  }
  const std::string parameters =
      "(const Params& p, Index begin, int count, unsigned char* runs) {\n";
  line("// Copies the inputs of `count` elements of each row, from `begin` on, to shared memory.");
  line("TILE_DEVICE void bring" + parameters + brings + "}\n");
  line("// Copies their full outputs to memory.");
  line("TILE_DEVICE void take" + parameters + takes + "}");
}

/// Writes the same functions for the block's strip of a slab.
void StagedWriter::write_strips() {
  std::string brings, takes;
  for (const Operand& operand : plan_.operands) {
    const auto pitch = plan::staged_pitch(plan_, operand);
    if (!pitch) continue;
    const int k = operand.tensor;
    const std::int64_t slab = *pitch * staged_.side;
    const std::string copy = fmt::format(
        "_strip<kThreads, kColumns>(runs + {0}, p.t{1} + i64(blockIdx.x / kStrips) * {2} + "
        "i64(begin) * kSide + blockIdx.x % kStrips * kColumns, kSide, count, columns_of_strip()",
        plan::staged_place(plan_, staged_, operand), k, slab);
    if (operand.read)
      brings += fmt::format("  bring{}, p.t{} + p.total / kStrips * {});\n", copy, k, slab);
    if (operand.written) takes += fmt::format("  take{});\n", copy);
  }
  const std::string parameters =
      "(const Params& p, Index begin, int count, unsigned char* runs) {\n";
  line("TILE_DEVICE int columns_of_strip() {");
  line("  const u32 rest = kSide - blockIdx.x % kStrips * kColumns;");
  line("  return rest < kColumns ? int(rest) : kColumns;\n}\n");
  line("// Copies the inputs of `count` elements of each row, from `begin` on, to shared memory.");
  line("TILE_DEVICE void bring" + parameters + brings + "}\n");
  line("// Copies their full outputs to memory.");
  line("TILE_DEVICE void take" + parameters + takes + "}");
}

Code StagedWriter::staged_address(const Operand& operand, std::int64_t pitch) const {
  if (staged_.side > 0) {
    return {.text = fmt::format(
                "row_of_strip<{}, kColumns>(row.runs + {}, row.from, kSide, c0 - row.begin) + "
                "row.slot",
                expr::storage_type(operand.dtype), plan::staged_place(plan_, staged_, operand)),
            .coordinates = {0}};
  }
  if (goes_by_chunks()) {
    return {.text = run_of(operand, "row.runs") + " + row.slot + (c0 - row.begin) * kColumns",
            .coordinates = {0}};
  }
  if (staged_.columns > 1 && operand.reach != plan::Reach::broadcast) {
    const std::int64_t slab = pitch * staged_.columns + plan::staged_pad(plan_, staged_, operand) *
                                                            16 / size_bytes(operand.dtype);
    return {
        .text = fmt::format("{} + row.slot / kColumns * {} + row.slot % kColumns + c0 * kColumns",
                            run_of(operand), slab),
        .coordinates = {0}};
  }
  Code address{.text = fmt::format("{} + row.slot * {}", run_of(operand), pitch)};
  if (operand.reach == plan::Reach::broadcast) return address;
  address.text += " + c0 * kVector";
  address.coordinates.insert(0);
  return address;
}

Code StagedWriter::source_of(const Operand& operand) const {
  const auto pitch = plan::shared_pitch(plan_, staged_, operand);
  return pitch ? staged_address(operand, *pitch) : RowsWriter::source_of(operand);
}

Code StagedWriter::destination_of(const Operand& operand) const {
  const auto pitch = plan::staged_pitch(plan_, operand);
  return pitch ? staged_address(operand, *pitch) : RowsWriter::destination_of(operand);
}

}  // namespace tilejit::render
