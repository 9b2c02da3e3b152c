#include "scan/scan_writer.hpp"

#include <fmt/format.h>

#include "rows/rows.hpp"
#include "scan/scan.hpp"

namespace tilejit::render {

void ScanWriter::write_steps() {
  const auto vectors = plan::vectors_in_row(plan_, rows_);
  const bool whole = vectors && *vectors > 0 && *vectors % (rows_.row_threads * plan_.unroll) == 0;
  line(fmt::format("enum : bool {{ kComputesAlways = {} }};  // also what does not exist",
                   computes_always_));
  line(fmt::format("enum : bool {{ kChunksAreWhole = {} }};  // rows end with one", whole));
  if (plan::takes_turns(plan_, rows_)) line("#define TAKES_TURNS");
}

}  // namespace tilejit::render
