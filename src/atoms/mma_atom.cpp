#include "atoms/mma_atom.hpp"

#include <algorithm>
#include <array>

#include "atoms/ptx.hpp"
#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

using Types = std::vector<std::array<DType, 2>>;  // of A and B

/// Instructions of mma.sync that differ in the types of A and B only.
struct MmaSyncRow {
  int m, n, k;
  Types types;
  std::vector<DType> sums;  ///< types of C
};

const Types& integers() {
  static const Types all = {{i8, i8}, {i8, u8}, {u8, i8}, {u8, u8}};
  return all;
}
const Types& eight_bit_floats() {
  static const Types all = {{f8e4m3, f8e4m3}, {f8e4m3, f8e5m2}, {f8e5m2, f8e4m3}, {f8e5m2, f8e5m2}};
  return all;
}

std::vector<MmaSyncRow> mma_sync_rows() {
  return {
      {16, 8, 8, {{f16, f16}}, {f16, f32}},
      {16, 8, 16, {{f16, f16}}, {f16, f32}},
      {16, 8, 8, {{bf16, bf16}}, {f32}},
      {16, 8, 16, {{bf16, bf16}}, {f32}},
      {16, 8, 4, {{tf32, tf32}}, {f32}},
      {16, 8, 8, {{tf32, tf32}}, {f32}},
      {16, 8, 32, eight_bit_floats(), {f16, f32}},
      {8, 8, 16, integers(), {i32}},
      {16, 8, 16, integers(), {i32}},
      {16, 8, 32, integers(), {i32}},
      {8, 8, 4, {{f64, f64}}, {f64}},
      {16, 8, 4, {{f64, f64}}, {f64}},
      {16, 8, 8, {{f64, f64}}, {f64}},
      {16, 8, 16, {{f64, f64}}, {f64}},
  };
}

/// Instructions of wgmma that differ in the types of A and B, in N, and in where A is.
struct WgmmaRow {
  int k;
  Types types;
  std::vector<DType> sums;
};

std::vector<WgmmaRow> wgmma_rows() {
  return {
      {16, {{f16, f16}}, {f16, f32}},       {16, {{bf16, bf16}}, {f32}}, {8, {{tf32, tf32}}, {f32}},
      {32, eight_bit_floats(), {f16, f32}}, {32, integers(), {i32}},
  };
}

/// Floating types have every multiple of 8 up to 256. Integers have 8, 16, 24 and 32, then only
/// multiples of 16.
bool is_wgmma_n(int n, DType a) {
  return n % 8 == 0 && n >= 8 && n <= 256 && (is_floating(a) || n <= 32 || n % 16 == 0);
}

std::vector<MmaAtom> make_atoms() {
  std::vector<MmaAtom> all;
  for (const MmaSyncRow& row : mma_sync_rows()) {
    for (const auto& [a, b] : row.types) {
      for (const DType c : row.sums) {
        all.push_back({MmaFamily::mma_sync, row.m, row.n, row.k, a, b, c, ASource::registers});
      }
    }
  }
  for (const WgmmaRow& row : wgmma_rows()) {
    for (const auto& [a, b] : row.types) {
      for (const DType c : row.sums) {
        for (const ASource source : {ASource::shared, ASource::registers}) {
          for (int n = 8; n <= 256; n += 8) {
            if (is_wgmma_n(n, a)) {
              all.push_back({MmaFamily::wgmma, 64, n, row.k, a, b, c, source});
            }
          }
        }
      }
    }
  }
  return all;
}

/// The first compute capability with an instruction of mma.sync.
int first_of(const MmaAtom& atom) noexcept {
  if (is_integer(atom.a)) return atom.m == 8 ? 75 : 80;
  if (atom.a == f16) return atom.k == 8 ? 75 : 80;
  if (atom.a == f64) return atom.m == 8 ? 80 : 90;
  return size_bytes(atom.a) == 1 ? 89 : 80;
}

/// What the compiler makes of other instructions: see docs/atoms.md.
bool is_emulated(const MmaAtom& atom, int number) noexcept {
  if (size_bytes(atom.a) == 1 && is_floating(atom.a)) return number >= 90 && number < 120;
  if (atom.a == f64) return atom.m == 16 && number >= 100;
  return is_integer(atom.a) && atom.m == 8 && number >= 100;
}

std::string shape_text(const MmaAtom& atom) {
  return 'm' + std::to_string(atom.m) + 'n' + std::to_string(atom.n) + 'k' + std::to_string(atom.k);
}

}  // namespace

const std::vector<MmaAtom>& mma_atoms() {
  static const std::vector<MmaAtom> all = make_atoms();
  return all;
}

std::string to_string(const MmaAtom& atom) {
  std::string text = atom.family == MmaFamily::wgmma ? "wgmma_" : "mma_";
  text += shape_text(atom);
  for (const DType type : {atom.c, atom.a, atom.b}) text += '_' + std::string(to_string(type));
  const bool from_registers =
      atom.family == MmaFamily::wgmma && atom.a_source == ASource::registers;
  return text + (from_registers ? "_rs" : "");
}

MmaAtom parse_mma_atom(std::string_view text) {
  const auto& all = mma_atoms();
  const auto found =
      std::ranges::find_if(all, [&](const MmaAtom& atom) { return to_string(atom) == text; });
  if (found != all.end()) return *found;
  throw Error(ErrorCode::unsupported,
              "there is no tensor-core instruction '" + std::string(text.substr(0, 60)) +
                  "'; write one of docs/atoms.md, such as mma_m16n8k16_f32_bf16_bf16");
}

Support support(const MmaAtom& atom, const Target& target) noexcept {
  const int number = target.number();
  if (atom.family == MmaFamily::wgmma) {
    return number == 90 && target.feature == 'a' ? Support::native : Support::none;
  }
  if (number < first_of(atom)) return Support::none;
  return is_emulated(atom, number) ? Support::emulated : Support::native;
}

std::string targets_text(const MmaAtom& atom) {
  if (atom.family == MmaFamily::wgmma) return "sm_90a";
  return "sm_" + std::to_string(first_of(atom)) + " and later";
}

void require(const MmaAtom& atom, const Target& target) {
  if (support(atom, target) != Support::none) return;
  throw Error(ErrorCode::unsupported, to_string(target) + " has no " + instruction(atom) +
                                          "; compile for " + targets_text(atom) +
                                          ", or use an instruction of docs/atoms.md that " +
                                          to_string(target) + " has");
}

int threads(const MmaAtom& atom) noexcept {
  return atom.family == MmaFamily::wgmma ? 128 : 32;
}

bool in_shared_memory(const MmaAtom& atom, Operand operand) noexcept {
  return atom.family == MmaFamily::wgmma &&
         (operand == Operand::b || (operand == Operand::a && atom.a_source == ASource::shared));
}

Registers registers(const MmaAtom& atom, Operand operand) noexcept {
  if (in_shared_memory(atom, operand)) return {"b64", 1};
  const DType type = operand == Operand::a ? atom.a : operand == Operand::b ? atom.b : atom.c;
  const int columns = operand == Operand::c ? atom.n : atom.k;
  const int rows = operand == Operand::b ? atom.n : atom.m;
  const int bytes = rows * columns / threads(atom) * size_bytes(type);
  if (type == f64) return {"f64", bytes / 8};
  return {operand == Operand::c && type == f32 ? "f32" : "b32", bytes / 4};
}

std::string instruction(const MmaAtom& atom) {
  const auto type = [](DType dtype) { return '.' + std::string(ptx_type(dtype)); };
  if (atom.family == MmaFamily::wgmma) {
    return "wgmma.mma_async.sync.aligned." + shape_text(atom) + type(atom.c) + type(atom.a) +
           type(atom.b);
  }
  return "mma.sync.aligned." + shape_text(atom) + ".row.col" + type(atom.c) + type(atom.a) +
         type(atom.b) + type(atom.c);
}

}  // namespace tilejit::atoms
