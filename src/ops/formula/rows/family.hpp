#pragma once

#include "plan/family.hpp"

namespace tilejit::plan {

/// How threads share rows, the parts of the space over which the formula reduces (template
/// fused_rows.cu). A block has Plan::threads / row_threads groups of threads.
struct Rows {
  static constexpr std::string_view kTemplate = "fused_rows";
  static constexpr bool kCountsUnits = true;
  std::size_t first = 0;  ///< modes first .. first + count - 1 are reduced
  std::size_t count = 1;
  int row_threads = 32;  ///< threads of a block that share a row, a power of two
  int cluster = 1;       ///< blocks that share a row, with as many threads each
  /// Blocks that share a row. Each leaves its partial result in memory, and a second kernel
  /// combines them.
  int splits = 1;
  bool atomics = false;  ///< the last of these blocks combines instead of a second kernel
  /// Vectors of a row that a thread keeps in registers; 0: it reads them in each pass.
  int register_vectors = 0;
  /// Threads side by side belong to neighbouring rows, though vectors lie along.
  bool abreast = false;
  /// Vectors of a thread whose outputs, which lie along the row, pass through shared memory at
  /// once; 0: threads store them.
  int turned = 0;
  /// The same of inputs that lie along the row; 0: threads load them. While a plan is made,
  /// whether it may turn any.
  int turned_inputs = 0;
  /// Rows along the outermost kept mode for which threads store one result, since no input varies
  /// along that mode.
  int alike = 1;
  /// Blocks take one row after another and load the next row while they work on the current one;
  /// the launch has as many blocks as the device runs at once. If false, each block takes one row.
  bool ahead = false;
  /// Whether vectors lie along the row. If not, each element of a vector belongs to another row.
  [[nodiscard]] bool along() const noexcept { return first == 0; }
  [[nodiscard]] bool reduces(std::size_t m) const noexcept {
    return m >= first && m < first + count;
  }
  bool operator==(const Rows&) const = default;

  // What plan::IsFamily says.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  [[nodiscard]] std::int64_t units_per_block(const Plan& plan) const noexcept;
  [[nodiscard]] std::vector<Dim> compared_extents(const Plan& plan) const;
  [[nodiscard]] bool has_light(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

}  // namespace tilejit::plan
