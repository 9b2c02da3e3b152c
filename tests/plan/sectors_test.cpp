// How often blocks meet within sectors of outputs, and that boxes avoid it.
#include "plan/sectors.hpp"

#include <gtest/gtest.h>

#include "box/boxing.hpp"
#include "plan/plans.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

TEST(Sectors, BlocksMeetInThoseOfUnalignedRuns) {
  struct Row {
    const char* what;
    DType dtype;
    std::vector<std::int64_t> extents, strides, block;  // innermost mode first
    double elements;  // of the space per meeting; 0: they do not meet
  };
  const Row rows[] = {
      {"aligned rows", f32, {8192, 8192}, {1, 8192}, {128, 32}, 0},
      {"odd rows", f32, {8193, 8191}, {1, 8193}, {128, 32}, 128 / (7 / 8.0)},
      {"rows that begin at every second sector", f16, {8, 8191}, {1, 8}, {8, 1}, 8 / 0.5},
      {"whole rows, one after another", f16, {33, 8000}, {1, 33}, {33, 64}, 0},
      {"fewer of them", f16, {33, 8000}, {1, 33}, {33, 62}, 33 * 62 / (7 / 8.0)},
      {"parts of an inner mode", f16, {96, 7, 5000}, {1, 96, 672}, {48, 1, 9}, 0},
      {"elements far from each other", f32, {5000, 16}, {16, 1}, {64, 4}, 4 / 0.5},
      {"a mode that repeats", f32, {64, 9}, {1, 0}, {32, 1}, 0},
  };
  for (const Row& row : rows) {
    Operand operand{.dtype = row.dtype, .written = true};
    std::vector<Dim> extents;
    for (std::size_t m = 0; m < row.extents.size(); ++m) {
      extents.emplace_back(row.extents[m]);
      operand.modes.push_back({{row.extents[m], row.strides[m]}});
    }
    const double meetings = meetings_per_element(operand, extents, row.block);
    EXPECT_DOUBLE_EQ(meetings, row.elements == 0 ? 0 : 1 / row.elements) << row.what;
  }
}

TEST(Sectors, RunsWithGapsLieInWholeUnits) {
  struct Row {
    const char* what;
    Steps steps;
    std::int64_t bytes;
    double run, bursts;  // elements, and what memory reads for a run
  };
  const Row rows[] = {
      {"all of a row", {{1, 4096}}, 4, 1, 4},
      {"the modes of all", {{32, 64}, {1, 32}}, 4, 1, 4},
      {"every second element", {{2, 4096}}, 4, 1, 8},
      {"three f32 of 67", {{1, 3}, {67, 1000}}, 4, 3, 12 + 60},
      {"five bf16 of 69", {{1, 5}, {69, 1000}}, 2, 5, 10 + 62},
      {"80 bf16 of 144, which begin at sectors", {{1, 80}, {144, 1000}}, 2, 80, 192},
      {"80 f32 of 96", {{1, 80}, {96, 1000}}, 4, 80, 320},
      {"five elements of six", {{1, 5}, {6, 1000}}, 4, 5, 24},
  };
  for (const Row& row : rows)
    EXPECT_DOUBLE_EQ(bytes_in_units(row.steps, row.bytes, 64), row.bursts / row.run) << row.what;
}

TEST(Sectors, OutputsWithGapsAreStoredByAsManyBlocksAsHaveTheirNeighbours) {
  struct Row {
    const char* what;
    DType dtype;
    std::vector<std::int64_t> extents, strides, block;  // innermost mode first
    double cuts;                                        // per element
  };
  const Row rows[] = {
      {"three blocks to a sector", f32, {4095, 3}, {3, 1}, {1024, 1}, 2 / 8.0},
      {"one that has all of it", f32, {4095, 3}, {3, 1}, {341, 3}, 0},
      {"gaps of a sector and more", f32, {4095, 12}, {12, 1}, {1024, 1}, 7 / 8.0},
      {"two modes within a sector", f16, {100, 4, 2}, {8, 2, 1}, {100, 4, 1}, 1 / 16.0},
      {"gaps that no mode fills", f32, {4095, 7}, {2, 8190}, {1024, 1}, 0},
  };
  for (const Row& row : rows) {
    Operand operand{.dtype = row.dtype, .written = true};
    std::vector<Dim> extents;
    for (std::size_t m = 0; m < row.extents.size(); ++m) {
      extents.emplace_back(row.extents[m]);
      operand.modes.push_back({{row.extents[m], row.strides[m]}});
    }
    EXPECT_DOUBLE_EQ(cuts_per_element(operand, extents, row.block), row.cuts) << row.what;
  }
}

std::vector<std::int64_t> box_of(DType dtype, const std::string& x, const std::string& y) {
  const Plan plan = plan_of(test::make_op(dtype, {{"x", x}, {"y", y}}, "y = x"));
  const auto* const box = std::get_if<Box>(&plan.family);
  return box != nullptr ? box->extents : std::vector<std::int64_t>();
}

TEST(Sectors, BoxesHaveLongRunsOfUnalignedOutputs) {
  // 73 columns that fill a tile of 128 badly
  EXPECT_EQ(box_of(bf16, "(73,1000,1536):(1,112128,73)", "(73,1000,1536):(1536000,1536,1)"),
            (std::vector<std::int64_t>{112, 73}));
  // whole matrices, which are runs of both sides
  EXPECT_EQ(
      box_of(f16, "(2,1920,93,86):(15356160,7998,1,93)", "(2,1920,93,86):(15356160,7998,86,1)"),
      (std::vector<std::int64_t>{86, 93, 1}));
  // rows of 33 elements: several of them
  EXPECT_GE(
      box_of(f32, "(220,211,33,33):(229779,1,211,6963)", "(220,211,33,33):(229779,1089,33,1)")[1],
      4);
}

}  // namespace
}  // namespace tilejit::plan
