// The table of instructions against what CuTe C++ knows of them: tests/data/atoms.
#include "atoms/vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <set>

#include "atoms/copy_atom.hpp"
#include "atoms/mma_atom.hpp"
#include "atoms/ptx.hpp"
#include "atoms/shared_tile.hpp"
#include "atoms/tiled_mma.hpp"
#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

using test::atom_cases;
using test::Json;

MmaAtom atom_of(const Json& one) {
  const auto type = [&](int i) { return test::type_from_ptx(one["types"][i]); };
  const bool wide = one.contains("source");
  return {.family = wide ? MmaFamily::wgmma : MmaFamily::mma_sync,
          .m = one["shape_mnk"][0],
          .n = one["shape_mnk"][1],
          .k = one["shape_mnk"][2],
          .a = type(0),
          .b = type(1),
          .c = type(2),
          .a_source = wide && one["source"] == "ss" ? ASource::shared : ASource::registers};
}

void expect_same(const MmaAtom& atom, const Json& one) {
  EXPECT_EQ(instruction(atom), one["instruction"]);
  constexpr std::array kOperands = {Operand::a, Operand::b, Operand::c};
  constexpr std::array kLayouts = {"a_layout", "b_layout", "c_layout"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(to_string(layout(atom, kOperands[i])), one[kLayouts[i]]);
    const Registers held = registers(atom, kOperands[i]);
    EXPECT_EQ(Json({held.type, held.count}), one["registers"][i]);
  }
  // CuTe's architecture is that of its header: PTX has some instructions earlier.
  const Target since = parse_target(one["arch"].get<std::string>());
  EXPECT_NE(support(atom, since), Support::none);
}

TEST(AtomVectors, TheTableIsCutes) {
  std::set<std::string> seen;
  for (const char* kind : {"mma_sync", "wgmma"}) {
    for (const Json& one : atom_cases(kind)) {
      SCOPED_TRACE(one.dump());
      const MmaAtom atom = parse_mma_atom(to_string(atom_of(one)));
      EXPECT_EQ(atom, atom_of(one));
      expect_same(atom, one);
      seen.insert(to_string(atom));
    }
  }
  std::set<std::string> all;
  for (const MmaAtom& atom : mma_atoms()) all.insert(to_string(atom));
  EXPECT_EQ(seen, all);
  EXPECT_EQ(all.size(), mma_atoms().size()) << "a name twice";
}

TEST(AtomVectors, CopiesAreCutes) {
  std::set<std::string> seen;
  const auto key = [](const CopyAtom& atom) {
    const bool is_async = atom.family == CopyFamily::cp_async;
    return instruction(atom) +
           (is_async ? ' ' + std::to_string(atom.count) + (atom.zero_fills ? " or zero" : "") : "");
  };
  for (const Json& one : atom_cases("copy")) {
    SCOPED_TRACE(one.dump());
    const std::string ptx = one["ptx"], name = one["instruction"];
    CopyAtom atom;
    if (ptx.starts_with("cp.async")) {
      atom.family = CopyFamily::cp_async;
      atom.count = std::stoi(ptx.substr(ptx.find("[%1], ") + 6));
      atom.zero_fills = ptx.ends_with("%2;");
    } else {
      atom.family = ptx.starts_with("ld") ? CopyFamily::ldmatrix : CopyFamily::stmatrix;
      atom.count = name[name.find(".x") + 2] - '0';
      atom.transposed = name.find(".trans") != std::string::npos;
    }
    if (!ptx.starts_with("cp.async")) {  // CuTe writes "x4.m8n8"
      EXPECT_EQ(instruction(atom).size(), name.size());
    } else {
      EXPECT_EQ(instruction(atom), name);
    }
    const CopyLayouts of = layouts(atom);
    const bool to_memory = atom.family == CopyFamily::stmatrix;
    EXPECT_EQ(to_string(of.memory), one[to_memory ? "dst_layout" : "src_layout"]);
    EXPECT_EQ(to_string(of.registers), one[to_memory ? "src_layout" : "dst_layout"]);
    const int number = std::stoi(one["arch"].get<std::string>().substr(3));
    EXPECT_TRUE(has({.major = number / 10, .minor = number % 10, .feature = 0}, atom));
    EXPECT_FALSE(has({.major = 7, .minor = 0, .feature = 0}, atom));
    seen.insert(key(atom));
  }
  std::set<std::string> all;
  for (const CopyAtom& atom : copy_atoms()) all.insert(key(atom));
  EXPECT_EQ(seen, all);
  EXPECT_EQ(all.size(), copy_atoms().size());
}

Swizzling swizzling_of(const Json& one) {
  constexpr std::array kNames = {"INTER", "SW32", "SW64", "SW128"};
  return static_cast<Swizzling>(std::ranges::find(kNames, one["mode"]) - kNames.begin());
}

Major major_of(const Json& one) {
  return one["major"] == "K" ? Major::k : Major::mn;
}

void expect_layout(const ComposedLayout& layout, const Json& one) {
  EXPECT_EQ(to_string(layout.layout()), one["layout"]);
  const Swizzle& swizzle = layout.swizzle();
  EXPECT_EQ(swizzle.bits(), one["swizzle"][0]);
  if (swizzle.bits() > 0) {
    EXPECT_EQ(Json({swizzle.bits(), swizzle.base(), swizzle.shift()}), one["swizzle"]);
  }
}

TEST(AtomVectors, SharedBlocksAreCutes) {
  const Json cases = atom_cases("wgmma_smem_atoms");
  EXPECT_EQ(cases.size(), 24u);
  for (const Json& one : cases) {
    SCOPED_TRACE(one.dump());
    const SharedTile tile{.element_bytes = one["bits"].get<int>() / 8,
                          .major = major_of(one),
                          .swizzling = swizzling_of(one)};
    expect_layout(shared_block(tile.major, tile.swizzling, tile.element_bytes), one);
    EXPECT_EQ(alignment(tile), one["repeat_bytes"]);
    EXPECT_EQ(static_cast<int>(tile.swizzling), one["tma_swizzle_value"]);
  }
}

TEST(AtomVectors, SharedTilesAndTheirDescriptorsAreCutes) {
  int descriptors = 0;
  for (const Json& one : atom_cases("wgmma_smem_tiles")) {
    SCOPED_TRACE(one["id"].get<std::string>() + one["atom"].get<std::string>());
    const SharedTile tile{
        .element_bytes = one["bits"].get<int>() / 8,
        .major = major_of(one),
        .swizzling = swizzling_of(one),
        .mn = one["tile"][0],
        .k = one["tile"][1],
        .order = one["order"] == "MN-first" ? BlockOrder::mn_first : BlockOrder::k_first};
    expect_layout(layout(tile), one);
    int m = 0, n = 0, k = 0;  // "SM90_64x128x16_..."
    ASSERT_EQ(std::sscanf(one["atom"].get<std::string>().c_str(), "SM90_%dx%dx%d_", &m, &n, &k), 3);
    for (const Json& want : one["descriptors"]) {
      const MatrixDescriptor got =
          describe(tile, one["operand"] == "A" ? m : n, k, want["mn"], want["k"]);
      EXPECT_EQ(got.start, want["start"]) << want;
      EXPECT_EQ(got.leading, want["lbo"]) << want;
      EXPECT_EQ(got.stride, want["sbo"]) << want;
      EXPECT_EQ(got.bits, std::stoull(want["desc"].get<std::string>(), nullptr, 16)) << want;
      ++descriptors;
    }
  }
  EXPECT_GT(descriptors, 100);
}

/// "SM80_16x8x16_F32BF16BF16F32_TN", "SM90_64x128x16_F32BF16BF16_RS": one that we have, by its
/// shape, its types and where A is.
MmaAtom atom_named(const std::string& cute) {
  const auto types = cute.substr(cute.find('_', 5) + 1);
  for (const MmaAtom& atom : mma_atoms()) {
    const auto upper = [](DType type) {
      std::string text(ptx_type(type));
      std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
      return text;
    };
    const std::string shape = '_' + std::to_string(atom.m) + 'x' + std::to_string(atom.n) + 'x' +
                              std::to_string(atom.k) + '_';
    const bool wide = cute.starts_with("SM90_64");
    if ((atom.family == MmaFamily::wgmma) != wide) continue;
    if (wide && (atom.a_source == ASource::registers) != cute.ends_with("_RS")) continue;
    if (cute.find(shape) != std::string::npos &&
        types.starts_with(upper(atom.c) + upper(atom.a) + upper(atom.b))) {
      return atom;
    }
  }
  throw Error(ErrorCode::unsupported, cute);
}

TEST(AtomVectors, TiledProductsAreCutes) {
  int seen = 0;
  for (const Json& one : atom_cases("tiled_mma")) {
    SCOPED_TRACE(one["name"]);
    TiledMma mma{.atom = atom_named(one["atom"]),
                 .tile = {one["tile_mnk"][0], one["tile_mnk"][1], one["tile_mnk"][2]}};
    Extents& groups = mma.groups;
    ASSERT_EQ(std::sscanf(one["atom_layout"].get<std::string>().c_str(), "(%d,%d,%d)", &groups.m,
                          &groups.n, &groups.k),
              3);
    EXPECT_EQ(threads(mma), one["threads"]);
    constexpr std::array kOperands = {Operand::a, Operand::b, Operand::c};
    constexpr std::array kLayouts = {"a_tv", "b_tv", "c_tv"};
    for (std::size_t i = 0; i < 3; ++i) {
      const Layout got = layout(mma, kOperands[i]), want(one[kLayouts[i]].get<std::string>());
      ASSERT_EQ(size(got), size(want));
      // Where warps share K, those after the first: see README.md.
      const int first = kOperands[i] == Operand::c ? threads(mma) / groups.k : threads(mma);
      for (std::int64_t v = 0; v < size(mode(want, 1)).value(); ++v) {
        for (std::int64_t t = 0; t < first; ++t) ASSERT_EQ(got({t, v}), want({t, v}));
      }
    }
    ++seen;
  }
  EXPECT_EQ(seen, 14);
}

TEST(TiledMma, RefusesTilesThatAreNoMultiples) {
  const TiledMma mma{.atom = parse_mma_atom("mma_m16n8k16_f32_bf16_bf16"),
                     .groups = {.m = 2, .n = 2},
                     .tile = {.m = 64, .n = 24, .k = 32}};
  try {
    (void)layout(mma, Operand::a);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_layout);
    EXPECT_STREQ(error.what(),
                 "tile.n is 24; write a multiple of 16, what the instruction and its "
                 "groups cover");
  }
}

}  // namespace
}  // namespace tilejit::atoms
