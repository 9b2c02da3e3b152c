// Functions that CuTe and planning apply to layouts, swizzles and thread-value layouts: rows of the
// table of operations.
#include "common/command.hpp"
#include "layout/layout_operations.hpp"

namespace tilejit::cli {
namespace {

ComposedLayout tiled_to_shape(const ComposedLayout& block, const IntTuple& shape,
                              const Order* order) {
  if (order == nullptr || order->by == Order::By::left) return tile_to_shape(block, shape);
  if (order->by == Order::By::right) return tile_to_shape(block, shape, TileOrder::right);
  return tile_to_shape(block, shape, order->modes);
}

// A swizzle needs a power of two; a plain layout does not.
ComposedLayout upcasted(const ComposedLayout& layout, std::int64_t n) {
  if (layout.is_plain()) return upcast(layout.layout(), n);
  return upcast(layout, n);
}

ComposedLayout downcasted(const ComposedLayout& layout, std::int64_t n) {
  if (layout.is_plain()) return downcast(layout.layout(), n);
  return downcast(layout, n);
}

std::vector<std::int64_t> swizzled(const Swizzle& swizzle, const IntTuple& indices) {
  std::vector<std::int64_t> result;
  for (const Dim& index : indices.leaves()) {
    if (!index.is_known()) throw UsageError("swizzle takes known integers");
    result.push_back(swizzle(index.value()));
  }
  return result;
}

BankConflicts conflicts(const Layout& tv, const ComposedLayout& shared, std::int64_t access_bytes,
                        std::int64_t element_bytes) {
  constexpr std::int64_t kMost = 16;
  if (access_bytes > kMost || element_bytes > kMost) {
    throw UsageError("bank_conflicts takes accesses and elements of up to 16 bytes");
  }
  return bank_conflicts(tv, shared, static_cast<int>(access_bytes),
                        static_cast<int>(element_bytes));
}

ComposedLayout composed_with_swizzled(const Layout& a, const ComposedLayout& b) {
  return composition(a, b);
}

std::int64_t alignment(const Layout& layout, const std::int64_t* offset) {
  return common_alignment(layout, offset == nullptr ? 0 : *offset);
}

}  // namespace

std::vector<Operation> function_operations() {
  return {
      operation("nullspace", {"layout"}, "Where the layout is 0 by strides of 0",
                {"(2,3,4):(0,1,0)"}, nullspace),
      operation("max_common_layout", {"a", "b"}, "Where both are contiguous alike",
                {"(4,(2,2)):(4,(1,2))", "(4,4):(4,1)"}, max_common_layout),
      operation("max_common_vector", {"a", "b"}, "The size of that",
                {"(4,(2,2)):(4,(1,2))", "(4,4):(4,1)"}, max_common_vector),
      operation("max_alignment", {"layout"}, "The longest aligned vectors it is made of",
                {"(4,8):(1,16)"}, max_alignment),
      operation("common_alignment", {"layout", "offset"},
                "The largest power of two at which every vector starts", {"(4,8):(1,16)"},
                alignment),
      operation("contiguous_vector", {"layout"}, "The longest vector it starts with",
                {"(4,8):(1,16)"}, contiguous_vector),
      operation("is_injective", {"layout"}, "No index is reached twice", {"(4,8):(1,2)"},
                is_injective),
      operation("is_compact", {"layout"}, "Every index below the size once", {"(4,8):(8,1)"},
                is_compact),
      operation("domain_distribute", {"shape", "n"}, "Part of a shape with up to N elements",
                {"((64,3),(8,8))", "128"}, domain_distribute),
      operation("upcast", {"layout", "n"}, "For elements of N old ones each", {"(16,8):(8,1)", "4"},
                upcasted),
      operation("downcast", {"layout", "n"}, "For elements N of which made an old one",
                {"(16,8):(8,1)", "4"}, downcasted),
      operation("recast_layout", {"layout", "old_bits", "new_bits"},
                "From elements of OLD_BITS to elements of NEW_BITS",
                {"(16,256):(256,1)", "4", "32"}, recast_layout),
      operation("tile_to_shape", {"block", "shape", "order"}, "The block repeated up to a shape",
                {"(8,8):(8,1)", "(16,32)"}, tiled_to_shape),
      operation("make_layout_tv", {"thr", "val"},
                "The tile of threads with values, and (thread,value) to the tile",
                {"(4,32):(32,1)", "(4,8):(8,1)"}, make_layout_tv),
      operation("swizzle", {"swizzle", "indices"}, "A swizzle of indices",
                {"Sw<3,0,3>", "(8,9,16)"}, swizzled),
      operation("layout_o_swizzled", {"a", "b"}, "Composition with a swizzled layout on the right",
                {"(8,8):(8,1)", "Sw<2,0,-3> o 0 o (8,8):(8,1)"}, composed_with_swizzled),
      operation("bank_conflicts", {"tv", "shared", "access_bytes", "element_bytes"},
                "The passes of a warp over the banks of shared memory",
                {"(32,1):(1,0)", "32:32", "4", "4"}, conflicts),
  };
}

}  // namespace tilejit::cli
