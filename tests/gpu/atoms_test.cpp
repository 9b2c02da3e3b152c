// Tensor-core instructions on the device: every product of a warp, products of a warpgroup in every
// type, order and swizzle, against products on the CPU.
#include "gpu/atoms_on_device.hpp"

#include <gtest/gtest.h>

#include "atoms/emit_mma.hpp"
#include "atoms/mma_atom.hpp"

namespace tilejit::atoms {
namespace {

/// Writes the fragments of a matrix: `words` 4-byte words per thread, of which the first are used.
void put_fragments(const HostMatrix& matrix, const Layout& tv, std::int64_t words,
                   std::int64_t first_column, unsigned char* to) {
  const std::int64_t bytes = size_bytes(matrix.type);
  for (std::int64_t t = 0; t < size(mode(tv, 0)).value(); ++t) {
    for (std::int64_t v = 0; v < size(mode(tv, 1)).value(); ++v) {
      const std::int64_t at = tv({t, v}) + matrix.rows * first_column;
      encode(matrix.type, matrix.values[static_cast<std::size_t>(at)],
             to + t * words * 4 + v * bytes);
    }
  }
}

/// Compares fragments of D with A * B^T + C; C may be empty.
void expect_product(const MmaAtom& atom, const HostMatrix& a, const HostMatrix& b,
                    const HostMatrix& c, std::int64_t words, const unsigned char* got) {
  const Layout tv = layout(atom, Operand::c);
  int wrong = 0;
  for (std::int64_t t = 0; t < threads(atom); ++t) {
    for (std::int64_t v = 0; v < size(mode(tv, 1)).value(); ++v) {
      const std::int64_t index = tv({t, v}), row = index % atom.m, column = index / atom.m;
      Sum want = product_at(a, b, row, column);
      if (!c.values.empty()) {
        want.value += c.at(row, column);
        want.magnitude += std::abs(c.at(row, column));
      }
      const double value = decode(atom.c, got + t * words * 4 + v * size_bytes(atom.c));
      const double error = std::abs(value - want.value);
      const bool is_right = error <= bound(atom, a.columns, want.magnitude);
      if (!is_right && ++wrong == 1) {
        ADD_FAILURE() << "row " << row << " column " << column << ": " << value << " instead of "
                      << want.value;
      }
    }
  }
  EXPECT_EQ(wrong, 0);
}

// Block i of the grid does the i-th instruction. A thread has 16 words for each operand.
constexpr const char* kWarpProducts = R"(
template <class T, int kCount>
__device__ void load(T (&r)[kCount], const unsigned char* from) {
  for (int i = 0; i < kCount; ++i) r[i] = reinterpret_cast<const T*>(from + threadIdx.x * 64)[i];
}
template <class Mma>
__device__ void run(const unsigned char* in, unsigned char* out) {
  typename Mma::A a[Mma::kA];
  typename Mma::B b[Mma::kB];
  typename Mma::C c[Mma::kC], d[Mma::kC];
  load(a, in);
  load(b, in + 2048);
  load(c, in + 4096);
  Mma::fma(d, a, b, c);
  auto* const to = reinterpret_cast<typename Mma::C*>(out + threadIdx.x * 64);
  for (int i = 0; i < Mma::kC; ++i) to[i] = d[i];
}
)";

TEST_F(AtomsOnDevice, WarpsMultiplyInEveryShapeAndType) {
  std::vector<MmaAtom> atoms;
  for (const MmaAtom& atom : mma_atoms()) {
    const bool is_here = support(atom, target()) != Support::none;
    if (atom.family == MmaFamily::mma_sync && is_here) atoms.push_back(atom);
  }
  std::string text = "#include \"tile/mma.cuh\"\n";
  std::string body;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    text += emit(atoms[i], "Mma" + std::to_string(i));
    body += "  if (blockIdx.x == " + std::to_string(i) + ") run<tile::Mma" + std::to_string(i) +
            ">(in + blockIdx.x * 6144, out + blockIdx.x * 2048);\n";
  }
  text += kWarpProducts;
  text += "extern \"C\" __global__ void products(const unsigned char* in, unsigned char* out) {\n" +
          body + "}\n";
  CudaKernel kernel = byte_kernel("products", text);
  kernel.launch = {.grid = {std::to_string(atoms.size())}, .block = {"32"}};

  std::mt19937 random(11);
  Bytes in(6144 * atoms.size());
  std::vector<HostMatrix> a, b, c;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    const MmaAtom& atom = atoms[i];
    a.push_back(HostMatrix::random(atom.a, atom.m, atom.k, random));
    b.push_back(HostMatrix::random(atom.b, atom.n, atom.k, random));
    c.push_back(HostMatrix::random(atom.c, atom.m, atom.n, random));
    unsigned char* const to = in.data() + 6144 * i;
    put_fragments(a[i], layout(atom, Operand::a), 16, 0, to);
    put_fragments(b[i], layout(atom, Operand::b), 16, 0, to + 2048);
    put_fragments(c[i], layout(atom, Operand::c), 16, 0, to + 4096);
  }
  const Bytes out = run(kernel, in, 2048 * atoms.size());
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    SCOPED_TRACE(to_string(atoms[i]));
    expect_product(atoms[i], a[i], b[i], c[i], 16, out.data() + 2048 * i);
  }
}

/// A product of one warpgroup: rows 64 to 127 of a tile of A with a tile of B, over all their K.
struct WideCase {
  MmaAtom atom;
  Majors majors = {};
  Swizzling swizzling = Swizzling::bytes_128;
  int steps = 2;

  [[nodiscard]] SharedTile tile(Operand operand) const {
    const Major major = operand == Operand::a ? majors.a : majors.b;
    return {.element_bytes = size_bytes(atom.a),
            .major = major,
            .swizzling = swizzling,
            .mn = operand == Operand::a ? 128 : atom.n,
            .k = steps * atom.k,
            .order = major == Major::mn ? BlockOrder::k_first : BlockOrder::mn_first};
  }
  [[nodiscard]] bool from_registers() const { return atom.a_source == ASource::registers; }
};

/// The tile's bytes in shared memory.
void put_tile(const HostMatrix& matrix, const SharedTile& tile, unsigned char* to) {
  const ComposedLayout place = layout(tile);
  for (std::int64_t row = 0; row < tile.mn; ++row) {
    for (std::int64_t column = 0; column < tile.k; ++column) {
      encode(matrix.type, matrix.at(row, column),
             to + place(Coordinate{row, column}) * tile.element_bytes);
    }
  }
}

// Per block 48 KB of operands: 16 KB of A, as a tile or as fragments, then B.
constexpr const char* kWideProducts = R"(
extern __shared__ __align__(1024) unsigned char memory[];
template <class Mma, class TileA, class TileB, int kSteps, bool kFromRegisters>
__device__ void run(const unsigned char* in, unsigned char* out) {
  using namespace tile;
  for (int i = threadIdx.x; i < 49152 / 4; i += 128) {
    reinterpret_cast<u32*>(memory)[i] = reinterpret_cast<const u32*>(in)[i];
  }
  const u32 a = u32(__cvta_generic_to_shared(memory)), b = a + 16384;
  fence_async_proxy();
  __syncthreads();
  typename Mma::C d[Mma::kC];
  if constexpr (kFromRegisters) {
    u32 r[kSteps][4];
    for (int k = 0; k < kSteps; ++k) {
      for (int i = 0; i < 4; ++i) {
        r[k][i] = reinterpret_cast<const u32*>(in)[(k * 128 + threadIdx.x) * 4 + i];
      }
      pin(r[k]);
    }
    wgmma_fence();
    Mma::template fma<true>(d, r[0], TileB::descriptor(b));
#pragma unroll
    for (int k = 1; k < kSteps; ++k) {
      Mma::template fma<false>(d, r[k], TileB::descriptor(b) + TileB::step(0, k));
    }
  } else {
    wgmma_fence();
    Mma::template fma<true>(d, TileA::descriptor(a) + TileA::step(1, 0), TileB::descriptor(b));
#pragma unroll
    for (int k = 1; k < kSteps; ++k) {
      Mma::template fma<false>(d, TileA::descriptor(a) + TileA::step(1, k),
                               TileB::descriptor(b) + TileB::step(0, k));
    }
  }
  wgmma_commit();
  wgmma_wait<0>();
  pin(d);
  auto* const to = reinterpret_cast<typename Mma::C*>(out + threadIdx.x * 512);
  for (int i = 0; i < Mma::kC; ++i) to[i] = d[i];
}
)";

class WideProducts : public WarpgroupsOnDevice {
 protected:
  static std::string text_of(const std::vector<WideCase>& cases) {
    std::string text =
        "#include \"tile/tensor_map.cuh\"\n#include \"tile/wgmma.cuh\"\nstruct None {};\n";
    std::string body;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const WideCase& one = cases[i];
      const std::string n = std::to_string(i);
      text += emit(one.atom, "Mma" + n, one.majors);
      text += emit(one.tile(Operand::b), "TileB" + n, one.atom.n, one.atom.k);
      if (!one.from_registers()) {
        text += emit(one.tile(Operand::a), "TileA" + n, 64, one.atom.k);
      }
      body += "  if (blockIdx.x == " + n + ") run<tile::Mma" + n + ", " +
              (one.from_registers() ? "None" : "tile::TileA" + n) + ", tile::TileB" + n + ", " +
              std::to_string(one.steps) + (one.from_registers() ? ", true" : ", false") +
              ">(in + blockIdx.x * 49152, out + blockIdx.x * 65536);\n";
    }
    return text + kWideProducts +
           "extern \"C\" __global__ void __launch_bounds__(128, 1) "
           "products(const unsigned char* in, unsigned char* out) {\n" +
           body + "}\n";
  }

  static void multiply(const std::vector<WideCase>& cases) {
    CudaKernel kernel = byte_kernel("products", text_of(cases));
    kernel.launch = {.grid = {std::to_string(cases.size())}, .block = {"128"}, .shared = "49152"};
    std::mt19937 random(12);
    Bytes in(49152 * cases.size());
    std::vector<HostMatrix> a, b;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const WideCase& one = cases[i];
      const int depth = one.steps * one.atom.k;
      HostMatrix all = HostMatrix::random(one.atom.a, 128, depth, random);
      b.push_back(HostMatrix::random(one.atom.b, one.atom.n, depth, random));
      a.push_back({all.type, 64, depth, {}});
      for (std::int64_t k = 0; k < depth; ++k) {
        for (std::int64_t m = 64; m < 128; ++m) a[i].values.push_back(all.at(m, k));
      }
      unsigned char* const to = in.data() + 49152 * i;
      put_tile(b[i], one.tile(Operand::b), to + 16384);
      if (!one.from_registers()) {
        put_tile(all, one.tile(Operand::a), to);
        continue;
      }
      for (int k = 0; k < one.steps; ++k) {
        put_fragments(a[i], layout(one.atom, Operand::a), 4, k * one.atom.k, to + 2048 * k);
      }
    }
    const Bytes out = run(kernel, in, 65536 * cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(to_string(cases[i].atom) + ", swizzle " +
                   std::to_string(operation::swizzle_bytes(cases[i].swizzling)) +
                   (cases[i].majors.a == Major::mn ? ", A MN-major" : "") +
                   (cases[i].majors.b == Major::mn ? ", B MN-major" : ""));
      expect_product(cases[i].atom, a[i], b[i], {}, 128, out.data() + 65536 * i);
    }
  }
};

TEST_F(WideProducts, MultiplyInEveryType) {
  constexpr int kNs[] = {8, 64, 128, 256};
  std::vector<WideCase> cases;
  int kinds = 0;  // which differ in more than N
  for (const MmaAtom& atom : mma_atoms()) {
    if (atom.family != MmaFamily::wgmma) continue;
    if (atom.n == 8) ++kinds;
    if (atom.n == kNs[kinds % 4]) {
      cases.push_back({.atom = atom, .steps = 128 / size_bytes(atom.a) / atom.k});
    }
  }
  EXPECT_EQ(cases.size(), 32u);
  multiply(cases);
}

TEST_F(WideProducts, MultiplyInEveryOrderAndSwizzle) {
  std::vector<WideCase> cases;
  for (const Swizzling swizzling :
       {Swizzling::none, Swizzling::bytes_32, Swizzling::bytes_64, Swizzling::bytes_128}) {
    for (const Major a : {Major::k, Major::mn}) {
      for (const Major b : {Major::k, Major::mn}) {
        cases.push_back({.atom = parse_mma_atom("wgmma_m64n64k16_f32_bf16_bf16"),
                         .majors = {.a = a, .b = b},
                         .swizzling = swizzling,
                         .steps = 4});
      }
    }
    for (const char* name : {"wgmma_m64n96k32_f32_f8e4m3_f8e5m2", "wgmma_m64n48k32_i32_i8_u8",
                             "wgmma_m64n40k8_f32_tf32_tf32"}) {
      cases.push_back({.atom = parse_mma_atom(name), .swizzling = swizzling, .steps = 4});
    }
    cases.push_back({.atom = parse_mma_atom("wgmma_m64n64k16_f32_bf16_bf16_rs"),
                     .majors = {.b = Major::mn},
                     .swizzling = swizzling,
                     .steps = 4});
  }
  multiply(cases);
}

}  // namespace
}  // namespace tilejit::atoms
