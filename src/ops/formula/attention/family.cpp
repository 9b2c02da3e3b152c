#include "attention/family.hpp"

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

int bytes_of(const atoms::SharedTile& tile) {
  return tile.mn * tile.k * tile.element_bytes;
}

}  // namespace

std::vector<Dim> AttentionWgmma::compared_extents(const Plan& plan) const {
  std::vector<Dim> extents = Matmul::compared_extents(plan);
  for (const Dim& dim : keys.dims()) extents.push_back(dim);
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

void AttentionWgmma::write_json(core::JsonLine& line) const {
  MatmulWgmma::write_json(line);
  line.member("score_atom", to_string(score_atom)).member("depth", to_string(depth));
  line.member("key_tensor", key_tensor).member("columns", columns);
  line.member("stages_of_q", stages_of_q);
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
    for (const std::vector<Mode>& leaves : tensor.modes) {
      std::string text;
      for (const Mode& leaf : leaves)
        text += to_string(leaf.extent) + ":" + to_string(leaf.stride) + " ";
      line.value(text);
    }
  }
  line.close(']').key("score_shape").open('[');
  for (const Dim& dim : scores.shape) line.value(to_string(dim));
  line.close(']').key("key_batch").open('[');
  for (const std::vector<Mode>& leaves : keys.batch) {
    std::string text;
    for (const Mode& leaf : leaves)
      text += to_string(leaf.extent) + ":" + to_string(leaf.stride) + " ";
    line.value(text);
  }
  line.close(']').key("score_program").open('[');
  for (const std::string& text : expr::to_lines(scores.program)) line.value(text);
  line.close(']');
}

bool counts_tiles(const Plan& plan) noexcept {
  const auto* const attention = std::get_if<AttentionWgmma>(&plan.family);
  return attention != nullptr && attention->has_mask();
}

atoms::SharedTile query_tile(const AttentionWgmma& attention) {
  return tile_of(atoms::Major::k, attention.tile.m, attention.columns);
}
atoms::SharedTile key_tile(const AttentionWgmma& attention) {
  return tile_of(atoms::Major::k, attention.tile.k, attention.columns);
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
  constexpr int kBarriersOfStage = 16, kChecks = 2, kWindows = 4, kWindow = 16;
  const int of_query = bytes_of(query_tile(attention)) + kBarriersOfStage;
  const int of_stage =
      bytes_of(key_tile(attention)) + bytes_of(value_tile(attention)) + 2 * kBarriersOfStage;
  const int of_check = kBarriersOfStage + attention.tile.k / 8;
  return attention.stages_of_q * of_query + attention.tile.stages * of_stage + kChecks * of_check +
         (attention.has_mask() ? kWindows * (kWindow + kBarriersOfStage) : 0) +
         sums_bytes(attention);
}

}  // namespace tilejit::plan
