#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilejit/dim.hpp"
#include "tilejit/dtype.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::operation {

/// One field of a kernel's parameter struct, in order. Fields are naturally aligned, as in C.
struct Param {
  enum class Kind : std::uint8_t {
    pointer,  ///< 8 bytes: address of tensor `index`
    scalar,   ///< scalar `index`, in its compute type (expr::compute_type): f16, bf16, f8, tf32 as
              ///< float
    total,    ///< i64: number of units (GridRule::units)
    dim,      ///< i64: value of `dim`
    divisor,  ///< 16 bytes, FastDivisor of ceil(dim / per)
    workspace,  ///< 8 bytes: address of workspace `index`
  };
  Kind kind = Kind::pointer;
  int index = -1;
  DType dtype = f32;      ///< Kind::scalar
  Dim dim = 1;            ///< Kind::dim, Kind::divisor
  std::int64_t per = 1;   ///< Kind::divisor
  std::string name = {};  ///< field name in the generated header: t0, s1, total, d0, q0
  int offset = 0;         ///< bytes
  int size = 8;           ///< bytes
  bool operator==(const Param&) const = default;
};

/// How many blocks a kernel is launched with. What it does is divided into units (vectors, tiles,
/// rows), and units are dealt out to blocks.
struct GridRule {
  struct Count {
    Dim extent = 1;
    std::int64_t per = 1;
    bool operator==(const Count&) const = default;
  };
  std::vector<Count> units = {};  ///< the units of a launch: the product of ceil(extent / per)
  std::int64_t units_per_block = 1;
  std::int64_t blocks_per_unit = 1;  ///< where they are several, a block takes one unit
  bool units_in_32_bits = false;     ///< more than 2^31-1 units are refused, not only blocks
  /// Blocks take one unit after another: no more are launched than the device runs at once.
  bool resident = false;
  bool operator==(const GridRule&) const = default;
};

/// One kernel of a launch.
struct Step {
  std::string entry;            ///< entry point in the cubin
  std::string wide_entry = {};  ///< the one for 2^31 units and more; empty: `entry` takes them all
  GridRule grid = {};
  int threads = 256;     ///< per block
  int cluster = 1;       ///< blocks per cluster
  int shared_bytes = 0;  ///< per block, beyond what the kernel declares
  std::vector<Param> params = {};
  int params_bytes = 0;  ///< size of the parameter struct
  /// Starts while the step before it ends, and waits by an instruction before it touches memory
  /// (programmatic dependent launch).
  bool overlaps_previous = false;
  bool operator==(const Step&) const = default;
};

/// Memory that a launch needs for itself, between its blocks or its steps.
struct Workspace {
  Dim bytes = 0;
  bool zeroed = false;  ///< 0 before the first launch; each leaves it so
  /// Small: taken once, when the kernel is loaded, instead of by each launch.
  bool kept = false;
  bool operator==(const Workspace&) const = default;
};

/// How an operation reaches the device: all that loading, binding, launching and graphs need to
/// know of its plan. A value.
struct LaunchPlan {
  std::vector<Step> steps = {};  ///< one after another; at least one
  std::vector<Workspace> workspaces = {};
  /// The iteration space, and for each tensor (in the signature's order) and each of its modes the
  /// leaves that make up the index of an element. Two tensors with equal ones have their elements
  /// at equal places: one may replace the other in place.
  std::vector<Dim> extents = {};
  std::vector<std::vector<std::vector<Mode>>> elements = {};
  bool operator==(const LaunchPlan&) const = default;
};

}  // namespace tilejit::operation
