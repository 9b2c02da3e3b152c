#include "layout/nested_modes.hpp"
#include "tilejit/layout.hpp"

namespace tilejit {
namespace {

using TopModes = std::vector<Nested<Mode>>;

constexpr std::size_t kMaxPaddedRank = 1024;

TopModes top_modes(const Layout& layout) {
  return layout::modes_of(layout.modes());
}

void refuse_none(std::size_t modes, const char* operation) {
  if (modes > 0) return;
  throw Error(ErrorCode::invalid_layout,
              std::string(operation) + ": a layout has at least one mode, and none is given");
}

void refuse_range(const Layout& layout, std::size_t begin, std::size_t end, const char* operation) {
  if (begin < end && end <= rank(layout)) return;
  throw Error(ErrorCode::invalid_layout,
              std::string(operation) + ": there are no modes from " + std::to_string(begin) +
                  " up to but not including " + std::to_string(end) + " in " +
                  core::shortened(to_string(layout)) + " of rank " + std::to_string(rank(layout)));
}

/// The number of modes that `layout` lacks.
std::size_t lacking(const Layout& layout, std::size_t wanted, const char* operation) {
  if (wanted < rank(layout) || wanted > kMaxPaddedRank) {
    throw Error(ErrorCode::invalid_layout,
                std::string(operation) + ": " + core::shortened(to_string(layout)) + " of rank " +
                    std::to_string(rank(layout)) + " is not padded to " + std::to_string(wanted) +
                    " modes; give a rank that is not smaller, and at most 1024");
  }
  return wanted - rank(layout);
}

}  // namespace

Layout make_layout(std::span<const Layout> modes) {
  refuse_none(modes.size(), "make_layout");
  auto result = Nested<Mode>::empty_tuple();
  for (const Layout& mode : modes) result.append(mode.modes());
  return result;
}

Layout make_layout(std::initializer_list<Layout> modes) {
  return make_layout(std::span<const Layout>(modes.begin(), modes.size()));
}

Layout get(const Layout& layout, std::span<const std::size_t> path) {
  Layout result = layout;
  for (const std::size_t i : path) result = mode(result, i);
  return result;
}

Layout get(const Layout& layout, std::initializer_list<std::size_t> path) {
  return get(layout, std::span<const std::size_t>(path.begin(), path.size()));
}

Layout select(const Layout& layout, std::span<const std::size_t> modes) {
  refuse_none(modes.size(), "select");
  auto result = Nested<Mode>::empty_tuple();
  for (const std::size_t i : modes) result.append(mode(layout, i).modes());
  return result;
}

Layout select(const Layout& layout, std::initializer_list<std::size_t> modes) {
  return select(layout, std::span<const std::size_t>(modes.begin(), modes.size()));
}

Layout take(const Layout& layout, std::size_t begin, std::size_t end) {
  refuse_range(layout, begin, end, "take");
  const TopModes modes = top_modes(layout);
  return Nested<Mode>::tuple(std::span(modes).subspan(begin, end - begin));
}

Layout group(const Layout& layout, std::size_t begin, std::size_t end) {
  refuse_range(layout, begin, end, "group");
  TopModes modes = top_modes(layout);
  const auto at = modes.begin() + static_cast<std::ptrdiff_t>(begin);
  *at = take(layout, begin, end).modes();
  modes.erase(at + 1, modes.begin() + static_cast<std::ptrdiff_t>(end));
  return Nested<Mode>::tuple(modes);
}

Layout append(const Layout& layout, const Layout& mode) {
  return append(layout, rank(layout) + 1, mode);
}

Layout prepend(const Layout& layout, const Layout& mode) {
  return prepend(layout, rank(layout) + 1, mode);
}

Layout append(const Layout& layout, std::size_t rank, const Layout& padding) {
  const std::size_t added = lacking(layout, rank, "append");
  if (added == 0) return layout;
  TopModes modes = top_modes(layout);
  modes.insert(modes.end(), added, padding.modes());
  return Nested<Mode>::tuple(modes);
}

Layout prepend(const Layout& layout, std::size_t rank, const Layout& padding) {
  const std::size_t added = lacking(layout, rank, "prepend");
  if (added == 0) return layout;
  TopModes modes = top_modes(layout);
  modes.insert(modes.begin(), added, padding.modes());
  return Nested<Mode>::tuple(modes);
}

Layout replace(const Layout& layout, std::size_t i, const Layout& mode) {
  refuse_range(layout, i, i + 1, "replace");
  if (layout.modes().is_leaf()) return mode;
  TopModes modes = top_modes(layout);
  modes[i] = mode.modes();
  return Nested<Mode>::tuple(modes);
}

Layout flatten(const Layout& layout) {
  return layout::flattened(layout.modes());
}

Layout unflatten(const Layout& layout, const IntTuple& profile) {
  return layout::unflattened(layout.modes(), profile);
}

}  // namespace tilejit
