// The layout algebra: rows of the table of operations.
#include "layout/layout_operations.hpp"

namespace tilejit::cli {
namespace {

using Divide = ComposedLayout (*)(const ComposedLayout&, const Tiler&);
using Inverse = ComposedLayout (*)(const ComposedLayout&);

ComposedLayout composed(const ComposedLayout& a, const Tiler& b, bool as_cute) {
  return composition(a, b, as_cute ? Exactness::as_cute : Exactness::exact);
}

Layout filtered(const Layout& layout, const IntTuple* profile) {
  return profile == nullptr ? filter(layout) : filter(layout, *profile);
}

Layout zeros_filtered(const Layout& layout, const IntTuple* profile) {
  return profile == nullptr ? filter_zeros(layout) : filter_zeros(layout, *profile);
}

Layout coalesced(const Layout& layout, const IntTuple* profile) {
  return profile == nullptr ? coalesce(layout) : coalesce(layout, *profile);
}

Layout complemented(const Layout& layout, const IntTuple* cotarget) {
  return cotarget == nullptr ? complement(layout) : complement(layout, *cotarget);
}

}  // namespace

std::vector<Operation> algebra_operations() {
  return {
      operation("coalesce", {"layout", "profile"},
                "The same function with as few modes as possible, or so at each leaf of a profile",
                {"(2,(1,6)):(1,(6,2))"}, coalesced),
      operation("filter_zeros", {"layout", "profile"},
                "Extents of stride 0 become 1, or those at zeros of a profile",
                {"((2,3),4):((0,1),3)"}, zeros_filtered),
      operation("filter", {"layout", "profile"},
                "What the layout reaches, each element once, coalesced", {"((2,3),4):((0,1),3)"},
                filtered),
      operation("composition", {"a", "b", "as_cute"},
                "R(c) = a(b(c)); a tuple of tilers is applied mode by mode",
                {"(6,2):(8,2)", "(4,3):(3,1)"}, composed),
      operation("complement", {"layout", "cotarget"},
                "A layout of what the layout leaves out of the cotarget", {"(2,2):(1,6)", "24"},
                complemented),
      operation("logical_divide", {"layout", "tiler"}, "(tile, rest), or so for each mode",
                {"(4,2,3):(2,1,8)", "4:2"}, static_cast<Divide>(logical_divide)),
      operation("zipped_divide", {"layout", "tiler"}, "((tiles...), (rests...))",
                {"(9,(4,8)):(59,(13,1))", "<3:3,(2,4):(1,8)>"}, static_cast<Divide>(zipped_divide)),
      operation("tiled_divide", {"layout", "tiler"}, "((tiles...), rest, rest, ...)",
                {"(9,(4,8)):(59,(13,1))", "<3:3,(2,4):(1,8)>"}, static_cast<Divide>(tiled_divide)),
      operation("flat_divide", {"layout", "tiler"}, "(tile, tile, ..., rest, rest, ...)",
                {"(9,(4,8)):(59,(13,1))", "<3:3,(2,4):(1,8)>"}, static_cast<Divide>(flat_divide)),
      operation("logical_product", {"layout", "tiler"},
                "(layout, its repetitions), or so for each mode", {"(2,2):(4,1)", "6:1"},
                logical_product),
      operation("zipped_product", {"layout", "tiler"}, "((layout...), (repetitions...))",
                {"(2,5):(5,1)", "(3,4):(1,3)"}, zipped_product),
      operation("tiled_product", {"layout", "tiler"}, "((layout...), repetition, repetition, ...)",
                {"(2,5):(5,1)", "(3,4):(1,3)"}, tiled_product),
      operation("flat_product", {"layout", "tiler"}, "(mode, mode, ..., repetition, ...)",
                {"(2,5):(5,1)", "(3,4):(1,3)"}, flat_product),
      operation("blocked_product", {"block", "tiler"},
                "Mode i is (mode i of the block, mode i of the tiler)",
                {"(2,5):(5,1)", "(3,4):(1,3)"}, blocked_product),
      operation("raked_product", {"block", "tiler"},
                "Mode i is (mode i of the tiler, mode i of the block)",
                {"(2,5):(5,1)", "(3,4):(1,3)"}, raked_product),
      operation("right_inverse", {"layout"}, "R with layout(R(i)) = i", {"(4,8):(8,1)"},
                static_cast<Inverse>(right_inverse)),
      operation("left_inverse", {"layout"}, "L with L(layout(i)) = i", {"(4,8):(8,1)"},
                static_cast<Inverse>(left_inverse)),
  };
}

}  // namespace tilejit::cli
