#include "attention/warp_shape.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "device/device.hpp"
#include "device/scale.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

constexpr int kWarps = 4, kBlocks = 2;                // of a block; on a multiprocessor
constexpr int kMostSlots = 4, kReservedBytes = 1536;  // the system's, and what is static
constexpr int kFewRows = 64, kManyRows = 128;         // queries

/// Whether tiles of so many queries leave multiprocessors without work.
bool has_few_tiles(const Plan& plan, const AttentionMma& attention, int rows) {
  std::int64_t tiles = 1;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    const Dim& extent = plan.extents[m];
    if (!extent.is_known()) return false;
    const bool is_query = m == (attention.along_m ? 0 : 1), is_column = m < 2 && !is_query;
    if (!is_column) tiles *= is_query ? core::ceil_div(extent.value(), rows) : extent.value();
  }
  return tiles < device::kManyBlocks * kBlocks;
}

int rows_of(const Plan& plan, const Tuning& tuning, const AttentionMma& attention) {
  if (tuning.tile) {
    return (*tuning.tile)[attention.along_m ? 0 : 1] == kFewRows ? kFewRows : kManyRows;
  }
  return has_few_tiles(plan, attention, kManyRows) ? kFewRows : kManyRows;
}

/// Whether the score is the product alone, and nothing is kept for each row.
bool is_light(const AttentionMma& attention) {
  const Scores& scores = attention.scores;
  const auto is_kept = [](const ScoreTensor& tensor) {
    return !tensor.written && !tensor.varies(0);
  };
  return scores.is_plain() && std::ranges::none_of(scores.tensors, is_kept);
}

}  // namespace

void choose_warps(const Plan& plan, const Tuning& tuning, AttentionMma& attention) {
  TileShape& tile = attention.tile;
  tile.m = rows_of(plan, tuning, attention);
  tile.warps_m = kWarps;
  tile.blocks = kBlocks;
  const int bytes = device::device_of(plan.target).shared_bytes / kBlocks - kReservedBytes;
  // A warp has 32 rows then; more keys of them would not leave registers for a formula. For sm_90,
  // not for sm_90a, the compiler needs some more.
  const bool wants_some = plan.target.major == 9 && plan.target.feature == 0;
  const bool has_few_registers =
      tile.m == kManyRows && tile.n > 64 && (wants_some || !is_light(attention));
  for (tile.k = has_few_registers ? 32 : 64;; tile.k /= 2) {
    for (tile.stages = kMostSlots; tile.stages >= 2; --tile.stages) {
      if (attention_shared_bytes(attention) <= bytes) return;
    }
  }
}

}  // namespace tilejit::plan
