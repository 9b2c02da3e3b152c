#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "expr/expression.hpp"
#include "operation/launch_shape.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {

using Extents = std::vector<std::int64_t>;

struct TileType {
  DType dtype = f32;
  Extents shape = {};
  bool operator==(const TileType&) const = default;
};
/// "f32 (64, 16)"
[[nodiscard]] std::string to_string(const TileType& type);
/// "(64, 16)"
[[nodiscard]] std::string to_string(const Extents& shape);
[[nodiscard]] std::int64_t count_of(const Extents& shape) noexcept;

struct TileSlot {
  std::string name;
  TileSpace space = TileSpace::registers;
  TileType type = {};
  std::size_t place = 0;                      ///< of the statement that made it
  std::optional<ComposedLayout> layout = {};  ///< of a shared tile, if the program pins it
};

/// A view of a tensor: its rank is that of the tiles that are copied.
struct ViewSlot {
  std::string name;
  int tensor = -1;
  std::size_t rank = 0;
};

/// A typed expression over a space of coordinates: tiles are the sources of its loads, scalar slots
/// those of its scalars. Scalars have an empty space.
struct Value {
  expr::Expression code = {};
  Extents space = {};
  [[nodiscard]] const expr::Node& node(expr::NodeId id) const {
    return code.nodes[static_cast<std::size_t>(id)];
  }
};

/// A part of a tensor.
struct Window {
  int view = -1;
  Extents tile = {};
  TileIndex::Kind kind = TileIndex::Kind::none;
  std::vector<Value> at = {};
  std::vector<int> order = {};  ///< empty: as it is
  std::optional<Value> mask = {};
};

struct Step;
using Steps = std::vector<Step>;

// What statements become. Numbers are those of slots.
struct SetView {
  int view = -1;
  std::vector<Value> shape = {};
  std::optional<Value> offset = {};
  std::vector<Value> stride = {};  ///< empty: row-major
};
struct Fill {
  int tile = -1;
  std::optional<Value> value = {};  ///< unset: the tile has no values yet
};
struct Load {
  Window window = {};
  TilePad pad = TilePad::none;
  int tile = -1;
  std::optional<ThreadValueLayouts> tv = {};
};
struct Store {
  Window window = {};
  int tile = -1;
  std::optional<ThreadValueLayouts> tv = {};
};
struct Move {
  int from = -1;
  int to = -1;
};
struct Gemm {
  int a = -1, b = -1, out = -1;
  bool a_transposed = false, b_transposed = false, accumulate = false;
};
struct Compute {
  Value value = {};
  int out = -1;
};
struct Rearrange {
  TileReshape::Kind kind = TileReshape::Kind::shape;
  int from = -1;
  int out = -1;
  int source = -1;                            ///< of insert
  std::vector<int> others = {};               ///< of cat
  std::vector<int> axes = {};                 ///< of permute
  int axis = 0;                               ///< of cat
  std::vector<std::optional<Value>> at = {};  ///< of extract and insert; unset: a whole axis
};
struct SetScalar {
  int scalar = -1;
  Value value = {};
};
struct Loop {
  int scalar = -1;
  Value begin = {}, end = {}, step = {};
  int stages = 1;
  int unroll = 0;  ///< 0: the compiler decides
  std::vector<Step> body;
};
struct WhileLoop {
  Value condition = {};
  std::vector<Step> body;
};
struct Branch {
  Value condition = {};
  bool per_thread = false;
  std::vector<Step> then;
  std::vector<Step> otherwise;
};
struct AtomicUpdate {
  TileAtomic::Kind kind = TileAtomic::Kind::add;
  Window window = {};
  int tile = -1;
  int out = -1;  ///< -1: none
};
struct PrintText {
  std::string text;
  std::vector<std::variant<Value, int>> arguments = {};  ///< scalars and tiles
};
struct Check {
  Value condition = {};
  std::string message;
};

struct Meet {};  ///< all threads of the block wait for each other

struct Step {
  using Kind = std::variant<SetView, Fill, Load, Store, Move, Gemm, Compute, Rearrange, SetScalar,
                            Loop, WhileLoop, Branch, AtomicUpdate, PrintText, Check, Meet>;
  Kind kind;
  TilePlace place = {};
};

/// Scalars that every program has, by number. Then come symbols, scalars, and names of Let and for.
enum Builtin : std::uint8_t {
  kBlockIdx,
  kGridDim = 3,
  kBlockDim = 6,
  kThreadIdx = 9,
  kTid = 12,
  kBuiltins,
};

/// A program whose names are resolved and whose expressions are typed.
struct Code {
  std::string text;  ///< the TL text that places point into
  std::vector<TileSlot> tiles;
  std::vector<ViewSlot> views;  ///< the first ones are the tensors
  std::vector<DType> scalars;   ///< dtypes of scalar slots
  int first_symbol = kBuiltins;
  std::vector<std::string> symbols;  ///< names, from slot first_symbol on
  int first_scalar = kBuiltins;      ///< the slot of the first launch argument
  Steps body;
  std::vector<Access> access;                    ///< of each tensor, never automatic
  std::map<std::string, std::int64_t> divisors;  ///< of symbols
  operation::LaunchShape shape;                  ///< with constants replaced by their values
};

/// The shape of each node over `space`: its extent along an axis is 1 if it does not vary.
[[nodiscard]] std::vector<Extents> shapes_of(const expr::Expression& code, const Extents& space,
                                             const std::vector<TileSlot>& tiles);
/// NumPy's rules, trailing axes aligned; nothing if they do not fit.
[[nodiscard]] std::optional<Extents> broadcast(const Extents& a, const Extents& b);

/// A number that the value, or the size, is always a multiple of.
[[nodiscard]] std::int64_t multiple_of(const Value& value, const Code& code);
[[nodiscard]] std::int64_t multiple_of(const Dim& dim, const Code& code);

}  // namespace tilejit::program
