#pragma once

#include "plan/family.hpp"

namespace tilejit::plan {

/// The integer width that the number of a vector needs. `both`: the width is known only at launch,
/// so the cubin has two entry points: `kernel_name` for totals below 2^31, and `kernel_name` +
/// "_wide".
enum class IndexWidth : std::uint8_t { narrow, wide, both };
inline constexpr std::int64_t kNarrowLimit = std::int64_t{1} << 31;  ///< numbers below are narrow
[[nodiscard]] std::string_view to_string(IndexWidth width) noexcept;

/// Threads take vectors in any order (template fused_map.cu).
struct Map {
  static constexpr std::string_view kTemplate = "fused_map";
  static constexpr bool kCountsUnits = true;
  IndexWidth index = IndexWidth::narrow;
  bool light = false;  ///< vectors of one element; the full plan has tiles
  /// Vectors go on from one row to the next. Inputs that do not, whose first mode has several
  /// leaves, are read element by element.
  bool flat = false;
  /// The mode along which the next vector lies; 0 for maps whose vectors follow each other.
  std::size_t first = 0;
  bool operator==(const Map&) const = default;

  // What plan::IsFamily says.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  [[nodiscard]] std::int64_t units_per_block(const Plan& plan) const noexcept;
  [[nodiscard]] std::vector<Dim> compared_extents(const Plan& plan) const;
  [[nodiscard]] bool has_light(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

/// The modes of a map in the order in which its vectors are counted.
[[nodiscard]] std::vector<std::size_t> order_of_vectors(const Plan& plan);

/// Per node: whether it is made of inputs, each of which is the same in all of a vector. A cast
/// that only stores use is none: they convert.
[[nodiscard]] std::vector<bool> same_in_vectors(const Plan& plan);

/// Leaves the threads of a map whose formula is heavy fewer vectors, if arithmetic hides memory or
/// there are not several times as many threads as a device holds. `plan` must be finished
/// otherwise: threads do not wait for starts then, so this does not count in the choice of a
/// family.
void spread_heavy(Plan& plan);

/// Gives the threads of a map whose formula is light more vectors, if all of its blocks are
/// resident at once then: no thread starts late. `plan` must be finished otherwise.
void gather_light(Plan& plan);

/// Has threads of a peeled map load what an input repeats element by element: L1 caches have it,
/// and each load takes one instruction, where two chunks and a shift take dozens. `plan` must be
/// finished otherwise.
void load_repeated_by_elements(Plan& plan);

}  // namespace tilejit::plan
