#include "formula/shared_elements.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/text.hpp"
#include "formula/overlap.hpp"

namespace tilejit::formula {
namespace {

/// Whether x * a.stride == y * b.stride for some 0 < x < a.extent, 0 < y < b.extent.
bool collide(const Mode& a, const Mode& b) {
  const std::int64_t common = std::gcd(a.stride.value(), b.stride.value());
  return b.stride.value() / common < a.extent.value() &&
         a.stride.value() / common < b.extent.value();
}

std::string mode_text(const Mode& mode) {
  return to_string(mode.extent) + ":" + to_string(mode.stride);
}

}  // namespace

std::optional<std::string> shared_elements(const Tensor& output) {
  const auto fault = [&](const std::string& before, const std::string& after) {
    return before + "the output '" + output.name + "' " + after;
  };
  std::vector<Mode> modes(output.layout.leaves().begin(), output.layout.leaves().end());
  if (std::ranges::any_of(modes, [](const Mode& m) { return m.extent.is(0); })) return std::nullopt;
  std::erase_if(modes, [](const Mode& m) { return m.extent.is(1) || !m.stride.is_known(); });
  if (std::ranges::any_of(modes, [](const Mode& m) { return m.stride.is(0); })) {
    return fault("", "has a mode of stride 0: its coordinates would share elements");
  }
  std::erase_if(modes, [](const Mode& m) { return !m.extent.is_known(); });
  std::vector<KnownMode> known;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!collide(modes[i], modes[j])) continue;
      return fault("the modes " + mode_text(modes[j]) + " and " + mode_text(modes[i]) + " of ",
                   "overlap: two coordinates would share an element");
    }
    known.push_back({modes[i].extent.value(), modes[i].stride.value()});
  }
  const Overlap overlap = find_overlap(std::move(known));
  const std::string layout = "the layout " + core::shortened(to_string(output.layout)) + " of ";
  if (overlap == Overlap::found)
    return fault(layout, "overlaps itself: two coordinates would share an element");
  if (overlap == Overlap::none) return std::nullopt;
  return fault(layout,
               "interleaves its modes in a way that cannot be checked for overlaps; use strides "
               "that exceed the span of the modes of smaller stride");
}

}  // namespace tilejit::formula
