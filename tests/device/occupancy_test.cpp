#include "device/occupancy.hpp"

#include <gtest/gtest.h>

namespace tilejit::device {
namespace {

struct OccupancyCase {
  const char* target;
  BlockNeeds needs;
  int blocks;
  const char* limit;
};

// Computed by hand from the tables that occupancy.cpp names.
const OccupancyCase kCases[] = {
    {"sm_90a", {.threads = 256}, 8, "threads"},
    {"sm_90a", {.threads = 256, .registers = 32}, 8, "threads"},
    {"sm_90a", {.threads = 256, .registers = 33}, 6, "registers"},  // 40 per thread: 48 warps of 64
    {"sm_90a", {.threads = 1024, .registers = 64}, 1, "registers"},
    {"sm_90a", {.threads = 1024, .registers = 128}, 0, "registers"},
    {"sm_90a", {.threads = 96, .registers = 255}, 2, "registers"},  // 8 warps: two of three
    {"sm_90a", {.threads = 32}, 32, "blocks"},
    {"sm_90a", {.threads = 64, .shared_bytes = 32768}, 6, "shared memory"},  // 33 KB each of 228
    {"sm_90a", {.threads = 64, .shared_bytes = 1}, 32, "threads"},
    {"sm_75", {.threads = 256}, 4, "threads"},
    {"sm_75", {.threads = 64, .shared_bytes = 32768}, 2, "shared memory"},  // nothing reserved
    {"sm_86", {.threads = 256}, 6, "threads"},
    {"sm_86", {.threads = 64}, 16, "blocks"},
    {"sm_120a", {.threads = 32}, 24, "blocks"},
    {"sm_120a", {.threads = 1024}, 1, "threads"},
};

TEST(Occupancy, IsLimitedByWhatIsUsedUpFirst) {
  for (const OccupancyCase& row : kCases) {
    SCOPED_TRACE(row.target);
    const Device& device = device_of(parse_target(row.target));
    const Occupancy occupancy = occupancy_of(device, row.needs);
    EXPECT_EQ(occupancy.blocks, row.blocks) << row.needs.threads;
    EXPECT_EQ(occupancy.limit, row.limit) << row.needs.threads;
    EXPECT_EQ(occupancy.threads, row.blocks * row.needs.threads);
    EXPECT_DOUBLE_EQ(occupancy.part, static_cast<double>(occupancy.threads) / device.threads);
  }
}

}  // namespace
}  // namespace tilejit::device
