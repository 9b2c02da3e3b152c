#include "plan/iteration.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "layout/modes.hpp"

namespace tilejit::plan {
namespace {

Dim remaining_extent(const OperandMode& leaves) {
  Dim extent = 1;
  for (const Mode& leaf : leaves) extent = extent * leaf.extent;
  return extent;
}

/// The leaves of top-level mode `i` in each tensor, in colexicographic order; a repeated mode is
/// one leaf of stride 0. All tensors have the axis whole, so a part that is split off one tensor's
/// mode is split off all of them.
std::vector<OperandMode> leaves_of_mode(const Fused& op, const formula::Analysis& analysis,
                                        std::size_t i) {
  std::vector<OperandMode> leaves;
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    const std::vector<int>& axes = analysis.axes[t];
    const auto at = std::ranges::find(axes, static_cast<int>(i));
    OperandMode mine;
    if (at != axes.end()) {
      const Layout own = mode(op.tensors[t].layout, static_cast<std::size_t>(at - axes.begin()));
      for (const Mode& leaf : own.leaves()) {
        if (!leaf.extent.is(1)) mine.push_back(leaf);
      }
    }
    if (mine.empty()) mine.push_back({analysis.shape[i], 0});
    if (remaining_extent(mine) != analysis.shape[i]) {
      throw std::logic_error("'" + op.tensors[t].name + "' has another extent than axis " +
                             std::to_string(i) +
                             " of its kernel; this is a bug of libtilejit: please report the "
                             "operation");
    }
    leaves.push_back(std::move(mine));
  }
  return leaves;
}

/// The extent of a first leaf that divides the first leaf of every tensor, if there is one.
std::optional<Dim> common_extent(const std::vector<OperandMode>& leaves) {
  for (const OperandMode& candidate : leaves) {
    const Dim& extent = candidate.front().extent;
    const bool divides = std::ranges::all_of(leaves, [&](const OperandMode& other) {
      return Dim::divide(other.front().extent, extent).has_value();
    });
    if (divides) return extent;
  }
  return std::nullopt;
}

/// Splits a mode of `extent` off the first leaf and returns it.
Mode split_front(OperandMode& leaves, const Dim& extent) {
  Mode& front = leaves.front();
  const Mode taken{extent, front.stride};
  front = {*Dim::divide(front.extent, extent), front.stride * extent};
  if (front.extent.is(1) && leaves.size() > 1) leaves.erase(leaves.begin());
  return taken;
}

/// Splits one top-level mode into iteration modes, fastest first.
void split_mode(std::vector<OperandMode> leaves, std::vector<IterationMode>& modes) {
  while (!remaining_extent(leaves.front()).is(1)) {
    const std::optional<Dim> extent = common_extent(leaves);
    if (!extent) {  // no common split: each tensor decomposes the rest of the coordinate by itself
      modes.push_back({remaining_extent(leaves.front()), leaves});
      return;
    }
    IterationMode split{*extent, {}};
    for (OperandMode& mine : leaves) split.operands.push_back({split_front(mine, *extent)});
    modes.push_back(std::move(split));
  }
}

/// Orders strides: known strides first, by value. A stride with more symbols counts as larger.
bool stride_less(const Dim& a, const Dim& b) {
  if (a.symbols().size() != b.symbols().size()) return a.symbols().size() < b.symbols().size();
  return a.factor() < b.factor();
}

/// Along modes of stride 0, other operands vary: these come last.
Dim smallest_stride(const OperandMode& leaves) {
  const Dim& least = std::ranges::min_element(leaves, stride_less, &Mode::stride)->stride;
  return least.is(0) ? Dim(INT64_MAX) : least;
}

bool merges(const IterationMode& inner, const IterationMode& outer) {
  for (std::size_t t = 0; t < inner.operands.size(); ++t) {
    const OperandMode& a = inner.operands[t];
    const OperandMode& b = outer.operands[t];
    if (a.size() != 1 || b.size() != 1) return false;
    if (!layout::continues({inner.extent, a[0].stride}, b[0])) return false;
  }
  return true;
}

std::vector<IterationMode> merge_neighbours(std::vector<IterationMode> modes) {
  std::vector<IterationMode> merged;
  for (IterationMode& mode : modes) {
    if (merged.empty() || !merges(merged.back(), mode)) {
      merged.push_back(std::move(mode));
      continue;
    }
    IterationMode& inner = merged.back();
    inner.extent = inner.extent * mode.extent;
    for (OperandMode& leaves : inner.operands) leaves[0].extent = inner.extent;
  }
  return merged;
}

/// The only mode of a space that has no elements or one element.
IterationMode single_mode(std::size_t tensors, const Dim& extent) {
  return {extent, std::vector<OperandMode>(tensors, {{extent, 1}})};
}

}  // namespace

std::vector<IterationMode> iterate_together(const Fused& op, const formula::Analysis& analysis,
                                            const std::vector<std::size_t>& axes,
                                            std::optional<std::size_t> leader) {
  if (std::ranges::any_of(axes, [&](std::size_t i) { return analysis.shape[i].is(0); })) {
    return {single_mode(op.tensors.size(), 0)};
  }
  std::vector<IterationMode> modes;
  for (auto i = axes.rbegin(); i != axes.rend(); ++i) {
    split_mode(leaves_of_mode(op, analysis, *i), modes);
  }
  if (modes.empty()) return {single_mode(op.tensors.size(), 1)};
  if (leader) {
    std::ranges::stable_sort(modes, stride_less, [&](const IterationMode& m) {
      return smallest_stride(m.operands[*leader]);
    });
  }
  return merge_neighbours(std::move(modes));
}

std::vector<IterationMode> iterate_by_axis(const Fused& op, const formula::Analysis& analysis,
                                           const std::vector<std::size_t>& axes) {
  std::vector<IterationMode> modes;
  for (const std::size_t axis : axes) {
    modes.push_back({analysis.shape[axis], leaves_of_mode(op, analysis, axis)});
  }
  if (modes.empty()) return {single_mode(op.tensors.size(), 1)};
  return modes;
}

}  // namespace tilejit::plan
