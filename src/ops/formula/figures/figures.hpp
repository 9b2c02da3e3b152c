#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "plan/plan.hpp"

namespace tilejit::figures {

/// Maps value v of thread t of a block to an element of a tile.
struct ThreadValues {
  IntTuple tile;  ///< one extent per mode, in elements
  Layout layout;  ///< (thread, value) to the column-major index in the tile
  bool operator==(const ThreadValues&) const = default;
};

/// 32-byte sectors of global memory for the first warp of a block, summed over its requests (one
/// value per thread each): the sectors that a request touches, and the fewest sectors that could
/// hold as many different bytes.
struct Sectors {
  std::int64_t touched = 0, least = 0;
  [[nodiscard]] double ratio() const noexcept {
    return least == 0 ? 1 : static_cast<double>(touched) / static_cast<double>(least);
  }
  bool operator==(const Sectors&) const = default;
};

struct OperandFigures {
  std::string name = {};    ///< the tensor's name
  int access_elements = 1;  ///< elements of the widest access
  int access_bytes = 1;
  std::int64_t bytes_in_flight = 0;              ///< loads that a thread has under way at once
  std::optional<std::int64_t> bytes_moved = {};  ///< each element once, or twice if in place
  std::optional<Sectors> sectors = {};
};

/// What a kernel asks of a device: counts of all its blocks together, estimated from the plan.
struct Demand {
  double blocks = 0;
  int threads = 0;    ///< of a block
  int registers = 0;  ///< of a thread
  std::int64_t shared_bytes = 0;
  double bytes = 0;          ///< of memory, by whole sectors of 32: read, and written
  double again = 0;          ///< bytes that later passes read once more
  double instructions = 0;   ///< of the formula, one per element
  double special = 0;        ///< of these, on special function units
  double accesses = 0;       ///< loads and stores of a thread
  double shifted_words = 0;  ///< words of vectors that are shifted in registers
  double sectors = 0;        ///< that the requests of warps touch
  // One after another, in a block:
  double trips = 0;         ///< to memory
  double cached_trips = 0;  ///< to memory that is often in the L2 cache
  double barriers = 0, shuffles = 0, clusters = 0;
  bool splits = false;  ///< a second kernel combines results
};

/// The time of a launch on one device, and what takes most of it.
struct Predicted {
  const device::Device* device = nullptr;
  double us = 0;
  std::string_view limit = {};
};

/// What a plan tells about its kernel before the kernel runs. All figures are derived from the
/// plan, and keys contain none of them. Figures that need sizes are empty unless every symbol has a
/// value.
struct Figures {
  const device::Device* device = nullptr;  ///< its published peaks stand for the target
  ThreadValues values = {};                ///< layout of a block's unit
  std::optional<ThreadValues> transposed =
      {};  ///< of the transposed operands on their way to shared memory
  std::vector<OperandFigures> operands = {};
  int resident_threads = 0;          ///< per multiprocessor, if registers allow it
  std::int64_t bytes_in_flight = 0;  ///< per thread
  std::optional<std::int64_t> blocks = {}, elements = {}, bytes_moved = {};
  std::optional<double> memory_ms = {};
  double arithmetic_share = 0;        ///< time of the formula's instructions / memory_ms
  double special_share = 0;           ///< time of its special functions / memory_ms
  std::optional<Demand> demand = {};  ///< nothing for products, and if sizes are unknown
  /// On each device of the target's compute capability; empty for products.
  std::vector<Predicted> predicted = {};
  /// The figures of each kernel if there are several. Times are then sums, `bytes_moved` is what
  /// the whole operation must move, and figures of a block are empty.
  std::vector<Figures> parts = {};

  [[nodiscard]] std::int64_t bytes_in_flight_a_multiprocessor() const noexcept {
    return bytes_in_flight * resident_threads;
  }
  /// On `device`: "memory", "arithmetic", "special functions", "requests", "latency", "blocks" or
  /// "launch". For products and unknown sizes one of the first three.
  [[nodiscard]] std::string_view limit() const noexcept;
  /// On `device`. For products, the longest of the times at its published peaks.
  [[nodiscard]] std::optional<double> predicted_ms() const noexcept;
};

/// The name of the operand's tensor.
[[nodiscard]] const std::string& name_of(const plan::Plan& plan, const plan::Operand& operand);

/// Shared memory of a block, in bytes, as planned; the compiler may add some.
[[nodiscard]] std::int64_t shared_bytes_of(const plan::Plan& plan);

/// The figures of a plan. Symbols without a value in `symbols` leave figures empty.
[[nodiscard]] Figures figures_of(const plan::Plan& plan, const SymbolValues& symbols);

/// The thread-value layout of a block's unit, in the order of the plan's modes.
[[nodiscard]] ThreadValues thread_values(const plan::Plan& plan);
/// The same of a transposed operand on its way through shared memory.
[[nodiscard]] ThreadValues transposed_values(const plan::Plan& plan, const plan::Operand& operand);

/// What the first warp touches of an operand; nothing if its layout has symbols without a value, or
/// modes that the tile cuts in two.
[[nodiscard]] std::optional<Sectors> count_sectors(const plan::Plan& plan,
                                                   const plan::Operand& operand,
                                                   const SymbolValues& symbols);

/// A member "figures" for the plan's JSON.
[[nodiscard]] std::string to_json(const Figures& figures, const plan::Plan& plan);
/// The plan and its figures for people, on several lines.
[[nodiscard]] std::string to_text(const Figures& figures, const plan::Plan& plan);

}  // namespace tilejit::figures
