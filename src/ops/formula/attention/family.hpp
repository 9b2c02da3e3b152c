#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formula/attention.hpp"
#include "wgmma/family.hpp"

namespace tilejit::plan {

/// A tensor that scores or masks read, or that gets a value of each row: where its elements lie,
/// per axis of the space of scores, the keys first.
struct ScoreTensor {
  int tensor = -1;  ///< of the plan
  int source = -1;  ///< as loads and stores of Scores::program name it
  bool written = false;
  std::vector<std::vector<Mode>> modes = {};

  /// Whether elements differ along that axis.
  [[nodiscard]] bool varies(std::size_t axis) const {
    return std::ranges::any_of(modes[axis], [](const Mode& leaf) { return !leaf.stride.is(0); });
  }
  bool operator==(const ScoreTensor&) const = default;
};

/// How weights are made of the product q @ k.
struct Scores {
  expr::Program program;         ///< of the step that makes the weights
  formula::Attention attention;  ///< nodes of it
  std::vector<Dim> shape;        ///< (batch..., queries, keys)
  std::vector<ScoreTensor> tensors = {};
  /// Whether a score is the product itself, but for its scale and masks.
  [[nodiscard]] bool is_plain() const;
  bool operator==(const Scores&) const = default;
};

/// What an attention has beside the product of weights and values.
struct Weights {
  OperandSource keys;
  int key_tensor = -1;
  Dim depth = 1;         ///< of the product q @ k
  int padded_depth = 0;  ///< columns of q and k in shared memory
  Scores scores;
  bool operator==(const Weights&) const = default;

  [[nodiscard]] bool has_mask() const { return !scores.attention.masks.empty(); }
  [[nodiscard]] std::vector<Dim> compared_extents() const;
  void write_json(core::JsonLine& line) const;
};

/// softmax(score(q @ k)) @ v by warpgroups of sm_90a, without weights in memory. As a product, `a`
/// is q, `b` is v, K are the keys, and the instruction takes weights from registers. `tile.k` are
/// the keys of a block. The plan's tensors are q, v, those of the output's formula, then k and
/// those of scores.
struct AttentionWgmma : MatmulWgmma, Weights {
  static constexpr std::string_view kTemplate = "attention_wgmma";
  atoms::MmaAtom score_atom;
  int stages_of_q = 1;
  bool operator==(const AttentionWgmma&) const = default;

  [[nodiscard]] std::vector<Dim> compared_extents(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

/// The same by the tensor cores of warps, from sm_80 on. `tile.k` are the keys of a block, and
/// `tile.stages` the blocks of keys or of values in shared memory; `atom` multiplies both. Depth
/// and columns are padded to multiples of 16.
struct AttentionMma : MatmulMma, Weights {
  static constexpr std::string_view kTemplate = "attention_mma";
  int panel = 64;  ///< columns of sums that a warp hands to the formula at once
  bool operator==(const AttentionMma&) const = default;

  [[nodiscard]] std::vector<Dim> compared_extents(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

/// The plan's weights if its kernel is an attention, else null.
[[nodiscard]] const Weights* weights_of(const Plan& plan) noexcept;

/// Whether blocks take the next tile as they become free, by a counter in memory, since a mask
/// makes tiles differ.
[[nodiscard]] bool counts_tiles(const Plan& plan) noexcept;
/// Tiles in shared memory of AttentionWgmma, each made of boxes of 64 columns.
[[nodiscard]] atoms::SharedTile query_tile(const AttentionWgmma& attention);
[[nodiscard]] atoms::SharedTile key_tile(const AttentionWgmma& attention);
[[nodiscard]] atoms::SharedTile value_tile(const AttentionWgmma& attention);
/// Rows of `extent` elements of an operand's contiguous mode, `rows` to a box.
[[nodiscard]] operation::TensorMap rows_map(const OperandSource& source, const Dim& extent,
                                            const Dim& rows, int rows_of_box);
[[nodiscard]] operation::TensorMap query_map(const Plan& plan, const AttentionWgmma& attention);
[[nodiscard]] operation::TensorMap key_map(const AttentionWgmma& attention);
[[nodiscard]] operation::TensorMap value_map(const Plan& plan, const AttentionWgmma& attention);
[[nodiscard]] int attention_shared_bytes(const AttentionWgmma& attention);
[[nodiscard]] int attention_shared_bytes(const AttentionMma& attention);

}  // namespace tilejit::plan
