// Tiles of mma.sync in shared memory: every element has a place, and what lanes read together lies
// in different banks, by the layouts of the table and of the tile alone.
#include "atoms/warp_tile.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

struct TileCase {
  const char* atom;
  Major major;
  int rows, depth;
  const char* want;
};

constexpr TileCase kTiles[] = {
    {"mma_m16n8k16_f32_bf16_bf16", Major::k, 128, 64, "Sw<3,3,3> o 0 o (128,64):(64,1)"},
    {"mma_m16n8k16_f32_bf16_bf16", Major::k, 128, 32, "Sw<2,3,3> o 0 o (128,32):(32,1)"},
    {"mma_m16n8k16_f32_f16_f16", Major::k, 64, 16, "Sw<1,3,3> o 0 o (64,16):(16,1)"},
    {"mma_m16n8k16_f32_f16_f16", Major::mn, 128, 32, "Sw<3,3,4> o 0 o (128,32):(1,128)"},
    {"mma_m16n8k16_f32_f16_f16", Major::mn, 64, 64, "Sw<3,3,3> o 0 o (64,64):(1,64)"},
    {"mma_m16n8k8_f32_tf32_tf32", Major::k, 128, 32, "Sw<3,2,3> o 0 o (128,32):(32,1)"},
    {"mma_m16n8k8_f32_tf32_tf32", Major::k, 128, 16, "Sw<2,2,3> o 0 o (128,16):(16,1)"},
    {"mma_m16n8k8_f32_tf32_tf32", Major::mn, 128, 16, "Sw<2,3,4> o 0 o (128,16):(1,128)"},
    {"mma_m16n8k32_f32_f8e4m3_f8e5m2", Major::k, 128, 64, "Sw<2,4,3> o 0 o (128,64):(64,1)"},
    {"mma_m16n8k32_i32_i8_u8", Major::k, 64, 128, "Sw<3,4,3> o 0 o (64,128):(128,1)"},
    {"mma_m8n8k4_f64_f64_f64", Major::k, 64, 16, "Sw<2,2,2> o 0 o (64,16):(16,1)"},
    {"mma_m16n8k4_f64_f64_f64", Major::k, 64, 8, "Sw<1,2,2> o 0 o (64,8):(8,1)"},
    {"mma_m16n8k8_f64_f64_f64", Major::mn, 64, 16, "Sw<2,2,4> o 0 o (64,16):(1,64)"},
};

std::int64_t place(const ComposedLayout& tile, std::int64_t row, std::int64_t k) {
  return tile({row, k});
}

/// 16-byte rows of 8 x 8 matrices, as ldmatrix reads them.
void expect_matrices_apart(const TileCase& c, const ComposedLayout& tile, int bytes) {
  const int chunk = 16 / bytes;
  const bool along_k = c.major == Major::k;
  for (int row = 0; row < c.rows; row += along_k ? 8 : chunk) {
    for (int k = 0; k < c.depth; k += along_k ? chunk : 8) {
      std::set<std::int64_t> banks;
      for (int i = 0; i < 8; ++i) {
        banks.insert(place(tile, row + (along_k ? i : 0), k + (along_k ? 0 : i)) * bytes / 16 % 8);
      }
      ASSERT_EQ(banks.size(), 8u) << "at " << row << ", " << k;
    }
  }
}

/// Registers of 4 or 8 bytes: 128 bytes at a time.
void expect_registers_apart(const TileCase& c, const MmaAtom& atom, const ComposedLayout& tile,
                            int bytes) {
  const ElementLayouts of = element_layouts(atom, Operand::b);
  const int lanes = 128 / bytes, height = atom.n;
  for (int row = 0; row < c.rows; row += height) {
    for (int k = 0; k < c.depth; k += atom.k) {
      for (int first = 0; first < 32; first += lanes) {
        std::set<std::int64_t> banks;
        for (int lane = first; lane < first + lanes; ++lane) {
          banks.insert(place(tile, row + of.row({lane, 0}), k + of.column({lane, 0})) * bytes /
                       bytes % lanes);
        }
        ASSERT_EQ(banks.size(), static_cast<std::size_t>(lanes)) << "at " << row << ", " << k;
      }
    }
  }
}

TEST(WarpTile, HasNoBankConflicts) {
  for (const TileCase& c : kTiles) {
    SCOPED_TRACE(c.want);
    const MmaAtom atom = parse_mma_atom(c.atom);
    const ComposedLayout tile = warp_tile(atom, Operand::b, c.major, c.rows, c.depth);
    EXPECT_EQ(to_string(tile), c.want);
    const int bytes = size_bytes(atom.b);
    if (bytes == 2 || (bytes < 8 && c.major == Major::k)) {
      expect_matrices_apart(c, tile, bytes);
    } else {
      expect_registers_apart(c, atom, tile, bytes);
    }
    std::set<std::int64_t> places;
    for (int row = 0; row < c.rows; ++row) {
      for (int k = 0; k < c.depth; ++k) places.insert(place(tile, row, k));
    }
    EXPECT_EQ(places.size(), static_cast<std::size_t>(c.rows * c.depth));
    EXPECT_EQ(*places.rbegin(), c.rows * c.depth - 1);
  }
}

TEST(WarpTile, RefusesWhatIsNoTile) {
  const MmaAtom half = parse_mma_atom("mma_m16n8k16_f32_f16_f16");
  const std::tuple<Operand, Major, int, int> kWrong[] = {
      {Operand::a, Major::k, 96, 32},  // not a power of two
      {Operand::a, Major::k, 8, 32},   // less than an instruction
      {Operand::a, Major::k, 64, 8},   // the same, along K
      {Operand::b, Major::mn, 8, 32},  // 16 bytes contiguous
  };
  for (const auto& [operand, major, rows, depth] : kWrong) {
    try {
      (void)warp_tile(half, operand, major, rows, depth);
      ADD_FAILURE() << rows << " x " << depth;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_layout);
    }
  }
  try {
    (void)warp_tile(parse_mma_atom("wgmma_m64n128k16_f32_bf16_bf16"), Operand::a, Major::k, 64, 64);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
  }
}

}  // namespace
}  // namespace tilejit::atoms
