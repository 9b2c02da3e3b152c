#include "attention/family.hpp"

#include <algorithm>

#include "core/json_line.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

using operation::TensorMap;

constexpr int kColumnsOfBox = 64;  // 128 bytes

atoms::SharedTile tile_of(atoms::Major major, int mn, int k) {
  const bool along_k = major == atoms::Major::k;
  return {.element_bytes = 2,
          .major = major,
          .swizzling = atoms::Swizzling::bytes_128,
          .mn = mn,
          .k = k,
          .order = along_k ? atoms::BlockOrder::mn_first : atoms::BlockOrder::k_first};
}

std::vector<Dim> joined(std::vector<Dim> extents, const std::vector<Dim>& more) {
  extents.insert(extents.end(), more.begin(), more.end());
  return extents;
}

int bytes_of(const atoms::SharedTile& tile) {
  return tile.mn * tile.k * tile.element_bytes;
}

}  // namespace

bool Scores::is_plain() const {
  const auto node = [&](expr::NodeId id) -> const expr::Node& {
    return program.nodes[static_cast<std::size_t>(id)];
  };
  expr::NodeId plain = attention.score;
  while (node(plain).op == expr::Op::cast && node(plain).type == f32) plain = node(plain).args[0];
  return node(plain).op == expr::Op::load && node(plain).source == attention.products;
}

std::vector<Dim> Weights::compared_extents() const {
  std::vector<Dim> extents = keys.dims();
  extents.push_back(depth);
  for (const Dim& dim : scores.shape) extents.push_back(dim);
  for (const std::vector<Mode>& leaves : keys.batch) {
    for (const Mode& leaf : leaves) extents.push_back(leaf.extent);
  }
  for (const ScoreTensor& tensor : scores.tensors) {
    for (const std::vector<Mode>& leaves : tensor.modes) {
      for (const Mode& leaf : leaves) {
        extents.push_back(leaf.stride);
        extents.push_back(leaf.extent);
      }
    }
  }
  return extents;
}

void Weights::write_json(core::JsonLine& line) const {
  const auto text_of = [](const std::vector<Mode>& leaves) {
    std::string text;
    for (const Mode& leaf : leaves)
      text += to_string(leaf.extent) + ":" + to_string(leaf.stride) + " ";
    return text;
  };
  line.member("depth", to_string(depth));
  line.member("key_tensor", key_tensor).member("columns", padded_depth);
  const formula::Attention& of = scores.attention;
  line.key("scores").open('[');
  for (const int number : {of.products, static_cast<int>(of.score), static_cast<int>(of.scale),
                           of.divides ? 1 : 0, of.base_two ? 1 : 0}) {
    line.raw(std::to_string(number));
  }
  line.close(']').key("row").open('[');
  for (const expr::NodeId id : {of.sum, of.divisor, of.exponent}) line.raw(std::to_string(id));
  line.close(']').key("masks").open('[');
  for (const formula::ScoreMask& mask : of.masks)
    line.raw(std::to_string(mask.keeps ? mask.condition : -1 - mask.condition));
  line.close(']').key("score_tensors").open('[');
  for (const ScoreTensor& tensor : scores.tensors) {
    line.raw(std::to_string(tensor.tensor));
    line.raw(std::to_string(tensor.written ? -1 - tensor.source : tensor.source));
    for (const std::vector<Mode>& leaves : tensor.modes) line.value(text_of(leaves));
  }
  line.close(']').key("score_shape").open('[');
  for (const Dim& dim : scores.shape) line.value(to_string(dim));
  line.close(']').key("key_batch").open('[');
  for (const std::vector<Mode>& leaves : keys.batch) line.value(text_of(leaves));
  line.close(']').key("score_program").open('[');
  for (const std::string& text : expr::to_lines(scores.program)) line.value(text);
  line.close(']');
}

const Weights* weights_of(const Plan& plan) noexcept {
  if (const auto* mma = std::get_if<AttentionMma>(&plan.family)) return mma;
  return std::get_if<AttentionWgmma>(&plan.family);
}

std::vector<Dim> AttentionWgmma::compared_extents(const Plan& plan) const {
  return joined(Matmul::compared_extents(plan), Weights::compared_extents());
}

std::vector<Dim> AttentionMma::compared_extents(const Plan& plan) const {
  return joined(Matmul::compared_extents(plan), Weights::compared_extents());
}

void AttentionMma::write_json(core::JsonLine& line) const {
  MatmulMma::write_json(line);
  line.member("panel", panel);
  Weights::write_json(line);
}

void AttentionWgmma::write_json(core::JsonLine& line) const {
  MatmulWgmma::write_json(line);
  line.member("score_atom", to_string(score_atom)).member("stages_of_q", stages_of_q);
  Weights::write_json(line);
}

bool counts_tiles(const Plan& plan) noexcept {
  const auto* const attention = std::get_if<AttentionWgmma>(&plan.family);
  return attention != nullptr && attention->has_mask();
}

atoms::SharedTile query_tile(const AttentionWgmma& attention) {
  return tile_of(atoms::Major::k, attention.tile.m, attention.padded_depth);
}
atoms::SharedTile key_tile(const AttentionWgmma& attention) {
  return tile_of(atoms::Major::k, attention.tile.k, attention.padded_depth);
}
atoms::SharedTile value_tile(const AttentionWgmma& attention) {
  const int columns = (attention.tile.n + kColumnsOfBox - 1) / kColumnsOfBox * kColumnsOfBox;
  return tile_of(atoms::Major::mn, columns, attention.tile.k);
}

TensorMap rows_map(const OperandSource& source, const Dim& extent, const Dim& rows,
                   int rows_of_box) {
  const bool along_k = source.major == atoms::Major::k;
  const std::vector<Mode>& across = along_k ? source.outer : source.inner;
  TensorMap map{.dtype = source.dtype,
                .modes = {{.extent = extent, .stride = 1, .box = kColumnsOfBox},
                          {.extent = rows, .stride = across.front().stride, .box = rows_of_box}},
                .swizzle = TensorMap::Swizzle::bytes_128};
  for (std::size_t i = source.batch.size(); i-- > 0;) {
    for (const Mode& leaf : source.batch[i]) {
      if (!leaf.stride.is(0)) map.modes.push_back({.extent = leaf.extent, .stride = leaf.stride});
    }
  }
  return map;
}

TensorMap query_map(const Plan& plan, const AttentionWgmma& attention) {
  return rows_map(attention.a, attention.depth, plan.extents[attention.along_m ? 0 : 1],
                  attention.tile.m);
}
TensorMap key_map(const AttentionWgmma& attention) {
  return rows_map(attention.keys, attention.depth, attention.k, attention.tile.k);
}
TensorMap value_map(const Plan& plan, const AttentionWgmma& attention) {
  return rows_map(attention.b, plan.extents[attention.along_m ? 1 : 0], attention.k,
                  attention.tile.k);
}

int attention_shared_bytes(const AttentionWgmma& attention) {
  constexpr int kBarriersOfStage = 16, kChecks = 2, kWindows = 1, kWindow = 16;
  const int of_query = bytes_of(query_tile(attention)) + kBarriersOfStage;
  const int of_stage =
      bytes_of(key_tile(attention)) + bytes_of(value_tile(attention)) + 2 * kBarriersOfStage;
  const int of_check = kBarriersOfStage + attention.tile.k / 8;
  return attention.stages_of_q * of_query + attention.tile.stages * of_stage + kChecks * of_check +
         (attention.has_mask() ? kWindows * (kWindow + kBarriersOfStage) : 0) +
         sums_bytes(attention);
}

/// Rows lie in panels of 64 columns (tile/row_panels.cuh).
int attention_shared_bytes(const AttentionMma& attention) {
  const auto bytes_of = [](int rows, int columns) {
    return (columns + kColumnsOfBox - 1) / kColumnsOfBox * rows * 2 * kColumnsOfBox;
  };
  const int slot = std::max(bytes_of(attention.tile.k, attention.padded_depth),
                            bytes_of(attention.tile.k, attention.tile.n));
  constexpr int kRows = 16, kApart = 4;  // tile/sum_panel.cuh
  const int sums = attention.tile.warps_m * attention.panel *
                   (attention.along_m ? kRows + kApart : kRows) * size_bytes(attention.accumulator);
  return bytes_of(attention.tile.m, attention.padded_depth) +
         std::max(attention.tile.stages * slot, sums);
}

}  // namespace tilejit::plan
