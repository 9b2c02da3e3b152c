#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilejit/program.hpp"

namespace tilejit {

/// Which part of a tensor: `tile_number(e)` counts tiles along the last axis first, `tile_at` has a
/// number of tiles along each axis, `element_at` the first element, `elements` an index per
/// element.
[[nodiscard]] TileIndex tile_number(TileExpression number);
[[nodiscard]] TileIndex tile_at(std::vector<TileExpression> coordinate);
[[nodiscard]] TileIndex element_at(std::vector<TileExpression> origin);
[[nodiscard]] TileIndex elements(std::vector<TileExpression> indices);

/// Builds the statements of a program, one after another. Nothing is checked before the program
/// becomes an Operation. Not thread-safe.
class TileBuilder {
 public:
  using Inner = std::function<void(TileBuilder&)>;

  /// A view of the tensor `name`.
  TileBuilder& view(std::string name, std::vector<TileExpression> shape, TileExpression offset = 0);
  /// A tile; without `init` nothing is known of its values.
  TileBuilder& tile(std::string name, TileSpace space, std::vector<TileExpression> shape,
                    DType dtype, std::optional<TileExpression> init = {});
  /// Copies a part of a tensor to `to`.
  TileBuilder& load(std::string name, std::vector<TileExpression> tile, TileIndex index,
                    TileSpace to, TilePad pad = TilePad::none);
  /// Copies a tile in registers to a part of the tensor `as`, or of its own name if that is empty.
  TileBuilder& store(std::string name, std::vector<TileExpression> tile, TileIndex index,
                     std::string as = {});
  TileBuilder& multiply(TileGemm gemm);
  TileBuilder& compute(std::string out, TileExpression value);
  /// "Add", "Multiply" or another function, of tiles and scalars.
  TileBuilder& call(std::string function, std::vector<TileExpression> arguments, std::string out);
  TileBuilder& reduce(TileReduce::Kind kind, std::string name, int axis, std::string out);
  TileBuilder& let(std::string name, TileExpression value);
  TileBuilder& loop(std::string name, TileExpression begin, TileExpression end, const Inner& body,
                    std::optional<int> stages = {});
  TileBuilder& when(TileExpression condition, const Inner& then, const Inner& otherwise = {});
  /// Any statement.
  TileBuilder& add(TileStatement::Kind statement);

  [[nodiscard]] TileBody take() { return std::move(body_); }

 private:
  TileBody body_;
};

}  // namespace tilejit
