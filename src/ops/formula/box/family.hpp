#pragma once

#include <cstddef>

#include "plan/family.hpp"

namespace tilejit::plan {

/// The order in which the threads of a block go through its box. Thread t takes digit after digit
/// of t along `modes`; what is left of the box along a mode takes further steps.
struct Walk {
  std::vector<std::size_t> modes = {};  ///< those along which a box has neighbours, fastest first
  /// Neighbours along each of `modes` in one step; of the first mode, vectors of `vector` elements.
  std::vector<std::int64_t> threads = {};
  std::int64_t vector = 1;  ///< elements that a thread takes at once, which divide the first mode
  bool operator==(const Walk&) const = default;
};

/// An operand that passes through shared memory: it is loaded or stored in an order of its own.
struct Transposed {
  int tensor = -1;
  Walk walk = {};  ///< along the modes along which the operand varies
  std::vector<std::int64_t> pitch =
      {};                     ///< elements of shared memory between neighbours along each mode
  std::int64_t elements = 1;  ///< of shared memory
  /// Modes along which the box is a run in memory, fastest first, if aligned chunks of runs are
  /// copied (tile/runs.cuh) and `walk` only says in which order; empty: element by element.
  std::vector<std::size_t> run = {};
  bool operator==(const Transposed&) const = default;
};

/// What a block takes if operands are contiguous along several modes together, each in an order of
/// its own (template fused_box.cu): a box of the space, element by element.
struct Box {
  static constexpr std::string_view kTemplate = "fused_box";
  static constexpr bool kCountsUnits = false;
  std::vector<std::int64_t> extents = {};   ///< of a box, one per mode of the space
  Walk direct = {};                         ///< in which the other operands are accessed
  std::vector<Transposed> transposed = {};  ///< at least one
  std::size_t first = 0;                    ///< the mode along which blocks follow one another
  bool operator==(const Box&) const = default;

  // What plan::IsFamily says.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  [[nodiscard]] std::int64_t units_per_block(const Plan& plan) const noexcept;
  [[nodiscard]] std::vector<Dim> compared_extents(const Plan& plan) const;
  [[nodiscard]] bool has_light(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

/// Of an operand that is copied by runs: the elements of a run, the aligned chunks of `bytes` an
/// element that a run can lie in, and the number of runs in a box.
struct Runs {
  std::int64_t elements = 1, chunks = 1, count = 1;
};
[[nodiscard]] Runs runs_of(const Box& box, const Transposed& transposed, int bytes);

/// Of a walk: the threads that have an element, and the steps that each takes along mode
/// `walk.modes[i]` and in all.
[[nodiscard]] std::int64_t threads_of(const Walk& walk);
[[nodiscard]] std::int64_t steps_along(const Box& box, const Walk& walk, std::size_t i);
[[nodiscard]] std::int64_t steps_of(const Box& box, const Walk& walk);

}  // namespace tilejit::plan
