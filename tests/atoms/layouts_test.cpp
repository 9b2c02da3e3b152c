// What thread-value layouts mean, without a GPU: products computed fragment by fragment, the
// addresses of ldmatrix, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "atoms/copy_atom.hpp"
#include "atoms/emit_mma.hpp"
#include "atoms/mma_atom.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::atoms {
namespace {

constexpr Target kSm75{.major = 7, .minor = 5, .feature = 0};

std::string error_of(const std::function<void()>& act, ErrorCode code) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

using Matrix = std::vector<std::int64_t>;

Matrix random_matrix(std::int64_t count, std::mt19937& random) {
  Matrix matrix(static_cast<std::size_t>(count));
  for (std::int64_t& value : matrix) value = static_cast<std::int64_t>(random() % 17) - 8;
  return matrix;
}

/// What every thread holds of a matrix, thread by thread.
Matrix fragments(const Matrix& matrix, const Layout& tv) {
  Matrix held;
  const auto threads = size(mode(tv, 0)).value(), values = size(mode(tv, 1)).value();
  for (std::int64_t t = 0; t < threads; ++t) {
    for (std::int64_t v = 0; v < values; ++v) {
      held.push_back(matrix[static_cast<std::size_t>(tv({t, v}))]);
    }
  }
  return held;
}

/// One element of an operand: where it is, and what it is.
struct Held {
  std::int64_t row, column, value;
};

std::vector<Held> elements(const Matrix& held, const Layout& tv, std::int64_t rows) {
  std::map<std::int64_t, std::int64_t> by_index;  // several threads may hold one element
  const auto threads = size(mode(tv, 0)).value(), values = size(mode(tv, 1)).value();
  for (std::int64_t t = 0; t < threads; ++t) {
    for (std::int64_t v = 0; v < values; ++v) {
      by_index[tv({t, v})] = held[static_cast<std::size_t>(t * values + v)];
    }
  }
  std::vector<Held> all;
  for (const auto& [index, value] : by_index) all.push_back({index % rows, index / rows, value});
  return all;
}

Matrix plain_product(const MmaAtom& atom, const Matrix& a, const Matrix& b) {
  Matrix d(static_cast<std::size_t>(atom.m * atom.n));
  for (int n = 0; n < atom.n; ++n) {
    for (int k = 0; k < atom.k; ++k) {
      for (int m = 0; m < atom.m; ++m) {
        d[static_cast<std::size_t>(m + atom.m * n)] += a[static_cast<std::size_t>(m + atom.m * k)] *
                                                       b[static_cast<std::size_t>(n + atom.n * k)];
      }
    }
  }
  return d;
}

/// Every mma.sync; of wgmma one of each K, with the smallest and a larger N.
std::vector<MmaAtom> chosen() {
  std::vector<MmaAtom> some;
  for (const MmaAtom& atom : mma_atoms()) {
    const bool is_chosen_n = atom.n == 8 || atom.n == 48;
    const bool is_chosen_type =
        (atom.a == f16 && atom.c == f32) || atom.a == tf32 || (atom.a == i8 && atom.b == i8);
    if (atom.family == MmaFamily::mma_sync || (is_chosen_n && is_chosen_type)) {
      some.push_back(atom);
    }
  }
  return some;
}

// As the hardware does: each thread has only its registers, and the sums stay where they are.
TEST(Fragments, GiveTheProductOfTheMatrices) {
  std::mt19937 random(3);
  for (const MmaAtom& atom : chosen()) {
    SCOPED_TRACE(to_string(atom));
    const Matrix a = random_matrix(atom.m * atom.k, random),
                 b = random_matrix(atom.n * atom.k, random);
    const Layout tv_a = layout(atom, Operand::a), tv_b = layout(atom, Operand::b);
    const auto held_a = elements(fragments(a, tv_a), tv_a, atom.m);
    const auto held_b = elements(fragments(b, tv_b), tv_b, atom.n);
    Matrix d(static_cast<std::size_t>(atom.m * atom.n));
    std::vector<std::vector<Held>> columns_of_b(static_cast<std::size_t>(atom.k));
    for (const Held& y : held_b) columns_of_b[static_cast<std::size_t>(y.column)].push_back(y);
    for (const Held& x : held_a) {
      for (const Held& y : columns_of_b[static_cast<std::size_t>(x.column)]) {
        d[static_cast<std::size_t>(x.row + atom.m * y.row)] += x.value * y.value;
      }
    }
    const Layout tv_d = layout(atom, Operand::c);
    EXPECT_EQ(fragments(d, tv_d), fragments(plain_product(atom, a, b), tv_d));
  }
}

TEST(Fragments, HoldEveryElementOnceAndFillTheirRegisters) {
  for (const MmaAtom& atom : chosen()) {
    SCOPED_TRACE(to_string(atom));
    for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
      if (in_shared_memory(atom, operand)) continue;
      const Layout tv = layout(atom, operand);
      EXPECT_TRUE(is_compact(tv)) << to_string(tv);
      EXPECT_EQ(size(mode(tv, 0)), threads(atom));
      const ElementLayouts of = element_layouts(atom, operand);
      const std::int64_t rows = operand == Operand::b ? atom.n : atom.m;
      for (std::int64_t i = 0; i < size(tv).value(); ++i) {
        ASSERT_EQ(of.row(i) + rows * of.column(i), tv(i));
        ASSERT_LT(of.row(i), rows);
      }
      const DType type = operand == Operand::a ? atom.a : operand == Operand::b ? atom.b : atom.c;
      const Registers held = registers(atom, operand);
      EXPECT_EQ(size(mode(tv, 1)).value() * size_bytes(type),
                held.count * (held.type == "f64" ? 8 : 4));
    }
  }
}

// Sums packed to 16 bits are the A of the next product: attention's P needs no shuffle.
TEST(Fragments, PackedSumsAreAOfTheNextProduct) {
  const Layout c = layout(parse_mma_atom("wgmma_m64n16k16_f32_f16_f16"), Operand::c);
  const Layout a = layout(parse_mma_atom("wgmma_m64n8k16_f32_f16_f16_rs"), Operand::a);
  EXPECT_EQ(to_string(c), to_string(a));
}

/// The addresses that lanes give to load_matrices, in the order of tile/ldmatrix.cuh: rows of 16
/// bytes of a swizzled tile without a bank conflict, whose words are the fragment.
TEST(Ldmatrix, FillsFragmentsFromSwizzledTilesWithoutConflicts) {
  const Layout registers_of = layouts({.count = 4}).registers;
  for (const int row_bytes : {32, 64, 128}) {
    for (const char* name :
         {"mma_m16n8k16_f32_bf16_bf16", "mma_m16n8k32_i32_i8_u8", "mma_m16n8k8_f32_tf32_tf32"}) {
      SCOPED_TRACE(std::string(name) + " in rows of " + std::to_string(row_bytes));
      const MmaAtom atom = parse_mma_atom(name);
      const int bytes = size_bytes(atom.a);
      const auto mode_of = static_cast<Swizzling>(row_bytes == 32 ? 1 : row_bytes == 64 ? 2 : 3);
      const ComposedLayout tile = layout(SharedTile{
          .element_bytes = bytes, .swizzling = mode_of, .mn = 16, .k = row_bytes / bytes});
      // Lane l gives row l % 16, chunk l / 16: elements of A in the order of loaded bytes.
      const Layout tv("((16,2)," + std::to_string(16 / bytes) + "):((1," +
                      std::to_string(16 * 16 / bytes) + "),16)");
      const ComposedLayout part = composition(tile, Tiler{Tiler{16}, Tiler{32 / bytes}});
      EXPECT_TRUE(bank_conflicts(tv, part, 16, bytes).conflict_free());
      // Bit `b` of register value is bit b % 32 of word b / 32 % 4 of row; compare with A's layout.
      const Layout a = layout(atom, Operand::a);
      const std::int64_t values = size(mode(a, 1)).value(), bits = 8 * bytes;
      for (std::int64_t t = 0; t < 32; ++t) {
        for (std::int64_t v = 0; v < values; ++v) {
          const std::int64_t bit = registers_of({t, v * bits});
          const std::int64_t lane = bit / 128, in_row = bit % 128 / bits;
          const std::int64_t row = lane % 16, column = lane / 16 * (16 / bytes) + in_row;
          EXPECT_EQ(a({t, v}), row + 16 * column) << "thread " << t << " value " << v;
        }
      }
    }
  }
}

TEST(Ldmatrix, ConflictsInPlainRows) {
  const Layout tv("((16,2),8):((1,128),16)");
  const ComposedLayout plain = Layout("(16,16):(64,1)");
  EXPECT_EQ(bank_conflicts(tv, plain, 16, 2).wavefronts,
            8 * bank_conflicts(tv, plain, 16, 2).ideal_wavefronts);
}

TEST(Ldmatrix, FillsBOfTwoProducts) {
  const Layout registers_of = layouts({.count = 4}).registers;
  const Layout transposed = layouts({.count = 4, .transposed = true}).registers;
  const Layout b = layout(parse_mma_atom("mma_m16n8k16_f32_f16_f16"), Operand::b);
  for (std::int64_t t = 0; t < 32; ++t) {
    for (std::int64_t v = 0; v < 8; ++v) {  // four values of each product
      const std::int64_t want = b({t, v % 4});
      const std::int64_t n = want % 8 + v / 4 * 8, k = want / 8;
      // Stored [n][k]: lane l gives row l % 8 + l / 16 * 8, chunk l / 8 % 2.
      const std::int64_t bit = registers_of({t, v * 16}), lane = bit / 128, i = bit % 128 / 16;
      EXPECT_EQ(lane % 8 + lane / 16 * 8, n);
      EXPECT_EQ(lane / 8 % 2 * 8 + i, k);
      // Stored [k][n], transposed: lane l gives row l % 16, chunk l / 16.
      const std::int64_t bit_t = transposed({t, v * 16}), lane_t = bit_t / 128;
      EXPECT_EQ(lane_t % 16, k);
      EXPECT_EQ(lane_t / 16 * 8 + bit_t % 128 / 16, n);
    }
  }
}

TEST(Atoms, AreRefusedWhereTheTargetLacksThem) {
  const auto refusal = [](const char* name, const Target& target) {
    return error_of([&] { require(parse_mma_atom(name), target); }, ErrorCode::unsupported);
  };
  EXPECT_THAT(
      refusal("mma_m16n8k16_f32_bf16_bf16", kSm75),
      testing::HasSubstr("sm_75 has no mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32; "
                         "compile for sm_80 and later"));
  EXPECT_THAT(refusal("mma_m16n8k32_f32_f8e4m3_f8e5m2", parse_target("sm_86")),
              testing::HasSubstr("sm_89"));
  for (const char* target : {"sm_80", "sm_90", "sm_100a", "sm_120a"}) {
    EXPECT_THAT(refusal("wgmma_m64n256k16_f32_bf16_bf16", parse_target(target)),
                testing::HasSubstr("sm_90a"));
  }
  EXPECT_EQ(refusal("wgmma_m64n256k16_f32_bf16_bf16", parse_target("sm_90a")), "no error");
  EXPECT_THAT(error_of([] { require(CopyAtom{.family = CopyFamily::stmatrix}, kSm75); },
                       ErrorCode::unsupported),
              testing::HasSubstr("sm_75 has no stmatrix"));
  EXPECT_THAT(
      error_of([] { (void)parse_mma_atom("mma_m16n8k16_f32_f8e4m3_f16"); }, ErrorCode::unsupported),
      testing::HasSubstr("mma_m16n8k16_f32_bf16_bf16"));
}

TEST(Atoms, AreRefusedInOrdersThatTheInstructionLacks) {
  const auto refused = [](const char* name, Majors majors) {
    return error_of([&] { (void)emit(parse_mma_atom(name), "Mma", majors); },
                    ErrorCode::invalid_argument);
  };
  EXPECT_THAT(refused("wgmma_m64n8k32_f32_f8e4m3_f8e4m3", {.b = Major::mn}),
              testing::HasSubstr("K-major"));
  EXPECT_THAT(refused("wgmma_m64n8k16_f32_f16_f16_rs", {.a = Major::mn}),
              testing::HasSubstr("K-major"));
  EXPECT_EQ(refused("wgmma_m64n8k16_f32_f16_f16_rs", {.b = Major::mn}), "no error");
  EXPECT_THAT(refused("mma_m16n8k8_f32_f16_f16", {.b = Major::mn}), testing::HasSubstr("K-major"));
  EXPECT_THAT(error_of([] { (void)emit(mma_atoms()[0], "a b"); }, ErrorCode::invalid_argument),
              testing::HasSubstr("identifier"));
}

TEST(SharedTiles, AreRefusedWhereNoDescriptorDescribesThem) {
  const SharedTile tile{.mn = 128, .k = 64};
  const auto refused = [&](SharedTile of, int rows, int depth, int mn, int k) {
    return error_of([&] { (void)describe(of, rows, depth, mn, k); }, ErrorCode::invalid_layout);
  };
  EXPECT_THAT(refused(tile, 64, 16, 2, 0), testing::HasSubstr("not inside"));
  EXPECT_THAT(refused(tile, 64, 16, 0, 4), testing::HasSubstr("not inside"));
  EXPECT_THAT(refused({.swizzling = Swizzling::bytes_32, .mn = 64, .k = 64}, 64, 32, 0, 0),
              testing::HasSubstr("one descriptor"));  // two panels of K
  EXPECT_THAT(refused({.mn = 100, .k = 64}, 64, 16, 0, 0), testing::HasSubstr("100"));
}

}  // namespace
}  // namespace tilejit::atoms
