#pragma once

#include <string>
#include <string_view>

#include "atoms/mma_atom.hpp"
#include "atoms/shared_tile.hpp"

namespace tilejit::atoms {

/// In which order wgmma finds its operands in shared memory. Only 16-bit types may be `mn`.
struct Majors {
  Major a = Major::k;
  Major b = Major::k;
  bool operator==(const Majors&) const = default;
};

/// The instruction as a struct of CUDA text in namespace `tile`, for a source that includes
/// "tile/mma.cuh" or "tile/wgmma.cuh":
///
///     struct Mma {
///       static constexpr int kM, kN, kK, kThreads;
///       static constexpr int kA, kB, kC;  // registers of a thread
///       using A = ..., B = ..., C = ...;  // their types: u32 (packed), f32, f64, i32; u64 is a
///                                         // descriptor of shared memory
///       // Where value `value` of thread `thread` lies in A, and so on; not of shared memory.
///       static i32 row_a(i32 thread, i32 value), column_a(...), row_b(...), ..., column_c(...);
///       static void fma(C (&d)[kC], const A (&a)[kA], const B (&b)[kB], const C (&c)[kC]);
///     };
///
/// mma.sync has the `fma` above, d = a * b + c. wgmma's is `template <bool kClear> fma(d, a, b)`: d
/// = a * b if kClear, else d += a * b, where operands in shared memory are given by their
/// descriptors. A text has 1 to 6 KB, with steps up to 12.
///
/// With `steps`, wgmma has in its place as many products along K in one statement, which compiles
/// much faster than one statement each: `kSteps` and `multiply(C (&d)[kC], a, b, bool adds)` with
/// arrays of kSteps operands a and b; d is the sum of products, and what it was before if `adds`.
///
/// Throws Error{invalid_argument} if `name` is not an identifier, or for majors that the
/// instruction does not have.
[[nodiscard]] std::string emit(const MmaAtom& atom, std::string_view name,
                               const Majors& majors = {}, int steps = 0);

/// An operand of wgmma in shared memory as a struct of CUDA text in namespace `tile`:
///
///     struct TileA {
///       static constexpr int kBytes, kAlign;  // of the tile, in shared memory
///       static u64 descriptor(u32 tile);      // of the tile at that shared address
///       // Added to it for the mn-th rows of an instruction and the k-th step along K.
///       static constexpr u64 step(int mn, int k);
///     };
///
/// `rows` are those that one instruction reads, `depth` is its K. Throws as `describe`.
[[nodiscard]] std::string emit(const SharedTile& tile, std::string_view name, int rows, int depth);

}  // namespace tilejit::atoms
