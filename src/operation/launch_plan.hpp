#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operation/launch_shape.hpp"
#include "operation/tensor_map.hpp"
#include "tilejit/dim.hpp"
#include "tilejit/dtype.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::operation {

struct Signature;

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
    /// 128 bytes: `map` of tensor or workspace `index`, encoded by the driver. The field, and with
    /// it the struct, is aligned to 64, so the struct's size is a multiple of 64.
    tensor_map,
  };
  Kind kind = Kind::pointer;
  int index = -1;
  DType dtype = f32;      ///< Kind::scalar
  Dim dim = 1;            ///< Kind::dim, Kind::divisor
  std::int64_t per = 1;   ///< Kind::divisor
  TensorMap map = {};     ///< Kind::tensor_map
  std::string name = {};  ///< field name in the generated header: t0, s1, total, d0, q0
  int offset = 0;         ///< bytes
  int size = 8;           ///< bytes
  bool operator==(const Param&) const = default;
};

/// Appends a field where C would place it: aligned to its size, at most to 8 bytes; a tensor map to
/// TensorMap::kAlignment.
void append_field(std::vector<Param>& params, Param param);
/// The size, in bytes, of the struct with these fields.
[[nodiscard]] int struct_bytes(const std::vector<Param>& params) noexcept;
/// The size, in bytes, of a scalar in its compute type.
[[nodiscard]] int scalar_bytes(DType dtype) noexcept;

/// The number of blocks of a kernel. Its work is divided into units (vectors, tiles, rows), which
/// are distributed over blocks.
struct GridRule {
  struct Count {
    Dim extent = 1;
    std::int64_t per = 1;
    bool operator==(const Count&) const = default;
  };
  std::vector<Count> units = {};  ///< units per launch: the product of ceil(extent / per)
  std::int64_t units_per_block = 1;
  std::int64_t blocks_per_unit = 1;  ///< if above 1, each block takes one unit
  bool units_in_32_bits = false;     ///< refuses more than 2^31-1 units, not only blocks
  /// Each block takes one unit after another: at most as many blocks are launched as are resident.
  bool resident = false;
  bool operator==(const GridRule&) const = default;
};

/// One kernel of a launch.
struct Step {
  std::string entry;            ///< entry point in the cubin
  std::string wide_entry = {};  ///< for 2^31 units and more; empty: `entry` takes any number
  GridRule grid = {};
  /// Instead of `grid`. `threads` and `shared_bytes` are then the most that a launch may ask for.
  std::optional<LaunchShape> shape = {};
  int threads = 256;  ///< per block
  int cluster = 1;    ///< blocks per cluster
  /// The source does not declare `cluster`; it is set when the kernel is loaded.
  bool sets_cluster = false;
  int shared_bytes = 0;  ///< per block, beyond what the kernel declares
  std::vector<Param> params = {};
  int params_bytes = 0;  ///< size of the parameter struct
  /// The kernel takes the fields of the struct one by one, at most kMostPositional, instead of the
  /// struct.
  bool positional = false;
  /// The step starts while the previous one ends, and waits by an instruction before it touches
  /// memory (programmatic dependent launch).
  bool overlaps_previous = false;
  bool operator==(const Step&) const = default;
};

inline constexpr std::size_t kMostPositional = 128;

/// Memory that a launch needs for itself, shared by its blocks or steps.
struct Workspace {
  Dim bytes = 0;
  bool zeroed = false;  ///< 0 before the first launch; each launch leaves it 0
  /// Small memory: taken once when the kernel is loaded, not by each launch.
  bool kept = false;
  bool operator==(const Workspace&) const = default;
};

/// A statement of a kernel that must hold while it runs.
struct Assertion {
  std::string place = {};    ///< "program 'add' line 8"
  std::string message = {};  ///< its author's; may be empty
  bool operator==(const Assertion&) const = default;
};

/// Everything that loading, binding, launching and graphs need to know about a plan. A value.
struct LaunchPlan {
  std::vector<Step> steps = {};  ///< one after another; at least one
  std::vector<Workspace> workspaces = {};
  /// The iteration space; and, for each tensor (in the order of the signature) and each mode of the
  /// space, the leaves that make up the index of an element. Two tensors with equal leaves have
  /// their elements at equal places, so one may replace the other in place.
  std::vector<Dim> extents = {};
  std::vector<std::vector<std::vector<Mode>>> elements = {};
  /// The cubin's global that points to one word of host memory for each assertion. The words are 0;
  /// a kernel sets that of an assertion that does not hold (tile/assertion.cuh).
  std::string assertion_words = {};
  std::vector<Assertion> assertions = {};
  bool operator==(const LaunchPlan&) const = default;
};

/// Whether the parameters of `step` hold a tensor map.
[[nodiscard]] bool has_tensor_maps(const Step& step) noexcept;

/// Throws Error{unsupported} that names the first tensor map of `plan` that no launch could encode,
/// that is not aligned, or whose tensor or workspace does not exist. Planners may call it; loading
/// does.
void check_tensor_maps(const Signature& signature, const LaunchPlan& plan);

}  // namespace tilejit::operation
