#include "atoms/copy_atom.hpp"

#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

std::vector<CopyAtom> make_copies() {
  std::vector<CopyAtom> all;
  for (const CopyFamily family : {CopyFamily::ldmatrix, CopyFamily::stmatrix}) {
    for (const bool transposed : {false, true}) {
      for (const int count : {1, 2, 4}) {
        all.push_back({.family = family, .count = count, .transposed = transposed});
      }
    }
  }
  for (const bool zero_fills : {false, true}) {
    for (const int count : {4, 8, 16}) {
      all.push_back({.family = CopyFamily::cp_async, .count = count, .zero_fills = zero_fills});
    }
  }
  return all;
}

int first_of(const CopyAtom& atom) noexcept {
  switch (atom.family) {
    case CopyFamily::ldmatrix: return 75;
    case CopyFamily::cp_async: return 80;
    case CopyFamily::stmatrix: return 90;
  }
  return 0;
}

}  // namespace

const std::vector<CopyAtom>& copy_atoms() {
  static const std::vector<CopyAtom> all = make_copies();
  return all;
}

std::string instruction(const CopyAtom& atom) {
  if (atom.family == CopyFamily::cp_async) {
    return std::string("cp.async.") + (atom.count == 16 ? "cg" : "ca") + ".shared.global.L2::128B";
  }
  return std::string(atom.family == CopyFamily::ldmatrix ? "ld" : "st") +
         "matrix.sync.aligned.m8n8.x" + std::to_string(atom.count) +
         (atom.transposed ? ".trans" : "") + ".shared.b16";
}

bool has(const Target& target, const CopyAtom& atom) noexcept {
  return target.number() >= first_of(atom);
}

void require(const CopyAtom& atom, const Target& target) {
  if (has(target, atom)) return;
  throw Error(ErrorCode::unsupported, to_string(target) + " has no " + instruction(atom) +
                                          "; compile for sm_" + std::to_string(first_of(atom)) +
                                          " or later, or move the data by ordinary loads and "
                                          "stores");
}

int threads(const CopyAtom& atom) noexcept {
  return atom.family == CopyFamily::cp_async ? 1 : 32;
}

CopyLayouts layouts(const CopyAtom& atom) {
  const std::string count = std::to_string(atom.count);
  if (atom.family == CopyFamily::cp_async) {
    const Layout bits("(1," + std::to_string(8 * atom.count) + "):(0,1)");
    return {bits, bits};
  }
  // Lane l has the address of row l % 8 of matrix l / 8.
  const Layout memory(atom.count == 4   ? "(32,128):(128,1)"
                      : atom.count == 2 ? "((16,2),128):((128,0),1)"
                                        : "((8,4),128):((128,0),1)");
  if (atom.transposed) {
    return {memory,
            Layout(atom.count == 1 ? "((4,8),(16,2)):((256,16),(1,128))"
                                   : "((4,8),(16,2," + count + ")):((256,16),(1,128,1024))")};
  }
  return {memory,
          Layout(atom.count == 1 ? "(32,32):(32,1)" : "(32,(32," + count + ")):(32,(1,1024))")};
}

}  // namespace tilejit::atoms
