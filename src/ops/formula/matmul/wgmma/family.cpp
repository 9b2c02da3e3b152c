#include "wgmma/family.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "core/json_line.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

using operation::TensorMap;

constexpr int kRowBytes = 128;  // of the widest swizzle

const OperandSource& source_of(const MatmulWgmma& product, atoms::Operand operand) {
  return operand == atoms::Operand::a ? product.a : product.b;
}

/// In shared memory: whole rows of the swizzle, of which the instruction may read a part.
int rows_of_tile(const MatmulWgmma& product, atoms::Operand operand) {
  const OperandSource& source = source_of(product, operand);
  const int rows = operand == atoms::Operand::a ? product.tile.m : product.columns();
  if (source.major == atoms::Major::k) return rows;
  const int wide = kRowBytes / size_bytes(source.dtype);
  return (rows + wide - 1) / wide * wide;
}

}  // namespace

void MatmulWgmma::choose_launch(Plan& plan, const Tuning&) {
  plan.threads = threads();
}

std::int64_t MatmulWgmma::unit_extent(const Plan&, std::size_t m) const noexcept {
  if (m > 1) return 1;
  return (m == 0) == along_m ? std::int64_t{tile.m} * cluster : std::int64_t{tile.n} * beside;
}

void MatmulWgmma::write_json(core::JsonLine& line) const {
  line.member("atom", to_string(atom)).member("cluster", cluster).member("beside", beside);
  line.member("box_rows_a", box_rows_a).member("box_rows_b", box_rows_b).member("panel", panel);
  line.member("words", words).key("alike").raw(alike ? "true" : "false");
  line.key("takes_turns").raw(takes_turns ? "true" : "false");
  line.key("swapped").raw(swapped ? "true" : "false");
  Matmul::write_json(line);
}

atoms::SharedTile shared_tile(const MatmulWgmma& product, atoms::Operand operand) {
  const OperandSource& source = source_of(product, operand);
  const bool along_k = source.major == atoms::Major::k;
  return {.element_bytes = size_bytes(source.dtype),
          .major = source.major,
          .swizzling = atoms::Swizzling::bytes_128,
          .mn = rows_of_tile(product, operand),
          .k = product.tile.k,
          .order = along_k ? atoms::BlockOrder::mn_first : atoms::BlockOrder::k_first};
}

BoxesOfTile boxes_of(const MatmulWgmma& product, atoms::Operand operand) {
  const OperandSource& source = source_of(product, operand);
  const int rows = rows_of_tile(product, operand);
  const bool right = operand == atoms::Operand::b;
  const int sharing = right ? product.cluster : product.beside;
  const int depth = product.tile.k;
  if (source.major == atoms::Major::k) {
    const int least = right ? std::max(sharing, product.products()) : sharing;  // boxes
    const int given = right ? product.box_rows_b : product.box_rows_a;
    const int extent = given == 0 ? rows / least : given;
    return {.count = rows / extent, .extent = extent, .depth = depth};
  }
  const int wide = kRowBytes / size_bytes(source.dtype);
  return {.count = rows / wide * sharing, .extent = wide, .depth = depth / sharing};
}

namespace {

/// K in the order of tile/operand_along_m.cuh: 0 4 1 5 2 6 3 7 of each 8.
std::vector<TensorMap::Mode> groups_of(const TensorMap::Mode& k) {
  return {{.extent = 2, .stride = k.stride * 4, .box = 2},
          {.extent = 4, .stride = k.stride, .box = 4},
          {.extent = Dim(k.extent.value() / 8), .stride = k.stride * 8, .box = k.box / 8}};
}

TensorMap map_of(const Plan& plan, const MatmulWgmma& product, atoms::Operand operand,
                 const OperandSource& source) {
  const bool along_k = source.major == atoms::Major::k;
  const Dim& rows = plan.extents[(operand == atoms::Operand::a) == product.along_m ? 0 : 1];
  const BoxesOfTile boxes = boxes_of(product, operand);
  const TensorMap::Mode outer = {
      .extent = rows, .stride = source.outer.front().stride, .box = boxes.extent};
  const TensorMap::Mode inner = {
      .extent = product.k, .stride = source.inner.front().stride, .box = boxes.depth};
  TensorMap map{.dtype = source.dtype,
                .modes = {along_k ? inner : outer, along_k ? outer : inner},
                .swizzle = TensorMap::Swizzle::bytes_128};
  if (operand == atoms::Operand::a && product.loads_a()) {
    map.modes.pop_back();
    for (const TensorMap::Mode& mode : groups_of(inner)) map.modes.push_back(mode);
  }
  for (std::size_t i = source.batch.size(); i-- > 0;) {
    for (const Mode& leaf : source.batch[i]) {
      map.modes.push_back({.extent = leaf.extent, .stride = leaf.stride});
    }
  }
  return map;
}

}  // namespace

TensorMap tensor_map(const Plan& plan, const MatmulWgmma& product, atoms::Operand operand) {
  return map_of(plan, product, operand, source_of(product, operand));
}

TensorMap second_tensor_map(const Plan& plan, const MatmulWgmma& product) {
  return map_of(plan, product, atoms::Operand::b, product.second->source);
}

int stage_bytes(const MatmulWgmma& product) noexcept {
  const int rows =
      rows_of_tile(product, atoms::Operand::a) + rows_of_tile(product, atoms::Operand::b);
  return rows * product.tile.k * size_bytes(product.a.dtype);
}

int panels_of_words(const MatmulWgmma& product) noexcept {
  return product.consumers() < 3 ? 2 : 1;
}

int sums_bytes(const MatmulWgmma& product) noexcept {
  constexpr int kWordPanel = 16 * 64 * 2;  // tile/sums_by_words.cuh
  if (product.by_words()) {
    return product.tile.warps_m * product.words * panels_of_words(product) * kWordPanel;
  }
  return product.tile.warps_m * product.products() * sums_of_panel(product) *
         size_bytes(product.accumulator);
}

std::int64_t tiles_along_n(const Plan& plan, const MatmulWgmma& product) {
  return core::ceil_div(plan.extents.front().value(), std::int64_t{product.tile.n});
}

int sums_of_panel(const MatmulWgmma& product) noexcept {
  constexpr int kRows = 16, kApart = 4;
  return product.panel * (product.along_m ? kRows + kApart : kRows);
}

int split_bytes(const MatmulWgmma& product) noexcept {
  const int of_warp = product.tile.m * product.tile.n / product.tile.warps_m;      // sums
  const int warps = (product.tile.warps_m + product.splits - 1) / product.splits;  // that add
  return warps * (product.splits - 1) * of_warp * size_bytes(product.accumulator);
}

int shared_bytes(const MatmulWgmma& product) noexcept {
  constexpr int kBarriers = 16;  // bytes of a stage, and of a split
  const int split = product.splits > 1 ? kBarriers : 0;
  return product.tile.stages * (stage_bytes(product) + kBarriers) + sums_bytes(product) + split;
}

}  // namespace tilejit::plan
