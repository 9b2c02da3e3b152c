#include "layout/nested_modes.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

/// The size of all tiles together. The last tile may overhang.
Dim tiled_size(const IntTuple& shape, const Tiler& tiler) {
  if (const auto* extent = tiler.extent()) {
    return Dim(*extent) * product(ceil_div(shape, *extent));
  }
  return size(*tiler.layout()) * size(complement(*tiler.layout(), shape));
}

}  // namespace

bool evenly_divides(const IntTuple& shape, const Tiler& tiler) {
  if (tiler.is_underscore()) return true;
  const std::vector<Tiler>* tilers = tiler.modes();
  if (tilers == nullptr) return tiled_size(shape, tiler).same_value(product(shape));
  if (tilers->size() > shape.rank()) return false;
  const std::vector<IntTuple> modes = layout::modes_of(shape);
  for (std::size_t i = 0; i < tilers->size(); ++i) {
    if (!evenly_divides(modes[i], (*tilers)[i])) return false;
  }
  return true;
}

}  // namespace tilejit
