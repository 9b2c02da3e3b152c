#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilejit/fused.hpp"
#include "tilejit/number.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/reference.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit {

/// Tile programs: kernels written as tiles (docs/tile-programs.md). A program has three equal
/// forms: a TileProgram, TL text and JSON.

/// A place in the TL text that a program was read from, as byte offsets. Empty: none. It takes no
/// part in comparisons: programs that say the same are equal.
struct TilePlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend constexpr bool operator==(const TilePlace&, const TilePlace&) noexcept { return true; }
};

/// The text of an expression, with one blank between tokens where the language's style has one:
/// `a+b` and `a + b` are equal. Not parsed yet.
class TileExpression {
 public:
  TileExpression(std::string_view text, TilePlace place = {});                         // NOLINT
  TileExpression(const char* text) : TileExpression(std::string_view(text)) {}         // NOLINT
  TileExpression(const std::string& text) : TileExpression(std::string_view(text)) {}  // NOLINT
  TileExpression(std::int64_t value) : text_(std::to_string(value)) {}                 // NOLINT
  TileExpression(int value) : text_(std::to_string(value)) {}                          // NOLINT

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const TilePlace& place() const noexcept { return place_; }
  bool operator==(const TileExpression&) const = default;

 private:
  std::string text_;
  TilePlace place_;
};

/// Where a tile lives: `global` is a view of a tensor, `shared` the block's memory, `registers` the
/// tile spread over the block's threads.
enum class TileSpace : std::uint8_t { global, shared, registers };
/// What is read outside a tensor. `none`: nothing is known of these elements.
enum class TilePad : std::uint8_t { none, zero, neg_zero, one, nan, pos_inf, neg_inf };

/// `Allocate`: in global a view of the tensor `name`, at an offset in elements, row-major unless
/// `stride` says else; in shared or registers a tile, which keeps its dtype and shape.
struct TileAllocate {
  std::string name;
  TileSpace space = TileSpace::registers;
  std::vector<TileExpression> shape = {};
  std::optional<DType> dtype = {};            ///< of a tile
  std::optional<TileExpression> init = {};    ///< of a tile; unset: nothing is known of its values
  std::optional<TileExpression> offset = {};  ///< of a view
  std::vector<TileExpression> stride = {};    ///< of a view, one per axis
  std::optional<ComposedLayout> layout = {};  ///< of a shared tile: where its elements lie
  bool operator==(const TileAllocate&) const = default;
};

/// Which part of a tensor a tile is.
struct TileIndex {
  enum class Kind : std::uint8_t {
    none,
    linear,   ///< one number counts tiles, those along the last axis first
    tile,     ///< a number of tiles along each axis
    element,  ///< the first element along each axis
    gather,   ///< the element along each axis, as expressions over the tile
  };
  Kind kind = Kind::none;
  std::vector<TileExpression> at = {};
  bool operator==(const TileIndex&) const = default;
};

/// `Copy`: a load from global, a store to global, or staging between shared and registers. Elements
/// outside the tensor read as `pad` and are not written.
struct TileCopy {
  std::string name;  ///< what is copied
  TileSpace from = TileSpace::global;
  TileSpace to = TileSpace::registers;
  std::vector<TileExpression> tile = {};  ///< extents, for global
  TileIndex index = {};                   ///< for global
  std::string as = {};                    ///< what the copy is called; empty: `name`
  TilePad pad = TilePad::none;            ///< of a load
  std::vector<int> order = {};  ///< axis i, of tile and place, is the tensor's axis order[i]
  std::optional<TileExpression> mask = {};    ///< elements to load or store, over the tile
  std::optional<ThreadValueLayouts> tv = {};  ///< of integers and constants
  bool operator==(const TileCopy&) const = default;
};

/// `Compute GEMM`: out = a b, or out += a b. A `.T` is the transposed view of a stored tile.
struct TileGemm {
  std::string a, b, out;
  bool a_transposed = false;
  bool b_transposed = false;
  bool accumulate = false;
  bool operator==(const TileGemm&) const = default;
};

/// `Compute`: a tile by a formula over tiles, rounded once to the dtype of `out`; or by a function
/// of `arguments`: Add, Subtract, Multiply, Divide, or one of the program or of formulas.
struct TileCompute {
  std::string out = {};
  std::optional<TileExpression> value = {};  ///< unless there is a function
  std::string function = {};
  std::vector<TileExpression> arguments = {};
  bool operator==(const TileCompute&) const = default;
};

/// `Compute ReduceSum` and others. The reduced axes stay, with an extent of 1, unless `keepdims` is
/// false.
struct TileReduce {
  enum class Kind : std::uint8_t { sum, prod, max, min, mean, argmax, argmin, any, all };
  Kind kind = Kind::sum;
  std::string name;            ///< the tile
  std::vector<int> axes = {};  ///< from the last if negative; empty: all
  std::string out;
  std::optional<TileExpression> init = {};
  bool keepdims = true;
  bool operator==(const TileReduce&) const = default;
};

/// `Compute ScanSum` and others.
struct TileScan {
  enum class Kind : std::uint8_t { sum, prod, max, min };
  Kind kind = Kind::sum;
  std::string name;
  int axis = -1;
  std::string out;
  bool exclusive = false;
  bool reverse = false;
  bool operator==(const TileScan&) const = default;
};

/// `Reshape`: another view of a tile's elements.
struct TileReshape {
  enum class Kind : std::uint8_t {
    role,       ///< of the fragments of a product, `from` to `to`: from a result to an operand
    shape,      ///< the same elements, row-major, in `shape`
    permute,    ///< axis i is axis axes[i]
    broadcast,  ///< repeated to `shape`
    extract,    ///< the part of `shape` at `at`; without `shape`, axes with an index are left out
    insert,     ///< with `source` in place of the part at `at`
    cat,        ///< followed by `others` along `axis`
  };
  Kind kind = Kind::shape;
  std::string name;
  std::vector<std::string> from = {}, to = {};
  std::vector<TileExpression> shape = {};
  std::vector<int> axes = {};
  std::vector<TileExpression> at = {};  ///< "_" stands for a whole axis
  std::string source = {};
  std::vector<std::string> others = {};
  int axis = 0;
  std::string as = {};  ///< empty: `name`
  bool operator==(const TileReshape&) const = default;
};

/// `Let`: a scalar.
struct TileLet {
  std::string name;
  TileExpression value;
  bool operator==(const TileLet&) const = default;
};

struct TileStatement;
using TileBody = std::vector<TileStatement>;

/// `for`: `name` counts from `begin` to below `end`.
struct TileFor {
  std::string name;
  TileExpression begin = 0;
  TileExpression end = 0;
  std::optional<TileExpression> step = {};
  std::optional<int> stages = {};  ///< copies from global to shared run this many steps ahead
  std::optional<int> unroll = {};
  TileBody body;
  bool operator==(const TileFor&) const;
};

struct TileWhile {
  TileExpression condition = "true";
  TileBody body;
  bool operator==(const TileWhile&) const;
};

/// `if`: a block decides together, unless the condition names a thread: then each thread does.
struct TileIf {
  TileExpression condition = "true";
  TileBody then;
  TileBody otherwise;
  bool operator==(const TileIf&) const;
};

/// `Atomic`: combines a tile with a part of the tensor `as`.
struct TileAtomic {
  enum class Kind : std::uint8_t { add, max, min, bit_and, bit_or, bit_xor, exchange };
  Kind kind = Kind::add;
  std::string name;  ///< the tile
  std::vector<TileExpression> tile = {};
  TileIndex index = {};
  std::string as = {};   ///< the tensor
  std::string out = {};  ///< a tile of the old values; empty: none
  bool operator==(const TileAtomic&) const = default;
};

/// `Print`: `{}` in the text stands for the arguments in turn: scalars, or names of tiles.
struct TilePrint {
  std::string text;
  std::vector<TileExpression> arguments = {};
  bool operator==(const TilePrint&) const = default;
};

/// `Assert`: on a device a condition that does not hold is reported by the next call that waits
/// (Runtime::synchronize); the kernel goes on.
struct TileAssert {
  TileExpression condition = "true";
  std::string message = {};
  bool operator==(const TileAssert&) const = default;
};

/// `Barrier`: all threads of the block wait for each other. Those that data needs are added anyway.
struct TileBarrier {
  bool operator==(const TileBarrier&) const = default;
};

/// A line that is only a comment, without its '#'.
struct TileComment {
  std::string text;
  bool operator==(const TileComment&) const = default;
};

struct TileStatement {
  using Kind = std::variant<TileAllocate, TileCopy, TileGemm, TileCompute, TileReduce, TileScan,
                            TileReshape, TileLet, TileFor, TileWhile, TileIf, TileAtomic, TilePrint,
                            TileAssert, TileBarrier, TileComment>;
  Kind kind;
  std::string comment = {};  ///< at the end of its line
  TilePlace place = {};
  bool operator==(const TileStatement&) const;
};

struct TileConstant {
  std::string name;
  Number value = 0;
  bool operator==(const TileConstant&) const = default;
};

/// Values of a constant: those that tuning tries, or one program each.
struct TileValues {
  std::string name;
  std::vector<Number> values = {};
  bool operator==(const TileValues&) const = default;
};

/// Expressions of integers, constants and symbols, as those of CudaLaunch.
struct TileLaunch {
  std::vector<TileExpression> grid = {1};     ///< blocks along x, y, z: one to three
  std::vector<TileExpression> block = {128};  ///< threads along x, y, z: one to three
  TileExpression cluster = 1;                 ///< blocks of a cluster along x
  int min_blocks = 0;                         ///< per multiprocessor; 0: the compiler decides
  std::string order = {};  ///< in which blocks take tiles: "row", "column", "swizzle:8"
  bool operator==(const TileLaunch&) const = default;
};

/// A comment in the header of a TL text.
struct TileNote {
  std::string at;          ///< before or beside what: "Kernel", "Tensor A", "Grid"
  std::string text;        ///< without the '#'
  bool same_line = false;  ///< at the end of the line, else on a line of its own before it
  bool operator==(const TileNote&) const = default;
};

/// A kernel written as tiles. A value; const member functions are thread-safe. `validate` checks
/// it: the message shows the line of the program, with a caret under the place.
struct TileProgram {
  std::string name = "program";      ///< an identifier
  std::vector<Symbol> symbols = {};  ///< facts about symbols of layouts
  std::vector<Tensor> tensors = {};  ///< launch arguments, first the tensors
  std::vector<Scalar> scalars = {};  ///< launch arguments, after the tensors
  std::vector<TileConstant> constants = {};
  std::vector<TileValues> sweep = {};  ///< constants for each of whose values there is a program
  std::vector<Function> functions = {};
  std::vector<std::string> zeroed = {};  ///< tensors that each launch sets to 0 first
  TileLaunch launch = {};
  std::vector<TileValues> tune = {};
  /// Statements of a formula, which computes all outputs: what `verify` compares with.
  std::vector<TileExpression> verify = {};
  TileBody body = {};
  std::vector<TileNote> notes = {};
  Tuning tuning = {};       ///< only `constants`
  std::string source = {};  ///< the TL text that it was read from; takes no part in comparisons
  bool operator==(const TileProgram&) const;

  operator Operation() const;  // NOLINT(google-explicit-constructor): doors take any operation
};

/// Reads a program from TL text, or, if the text starts with '{', from JSON. Checks the grammar,
/// and that expressions parse. Limits: 1 MiB, 10,000 statements, 64 levels of nesting. Throws
/// Error{invalid_formula} for TL (line and caret), Error{invalid_spec} for JSON (with a pointer).
[[nodiscard]] TileProgram parse_program(std::string_view text);
/// The program as TL text: parse_program reads it back to an equal value, and this function returns
/// the same text again.
[[nodiscard]] std::string to_tl(const TileProgram& program);
/// The program as JSON, two spaces of indent, without checks. parse_program reads it back to an
/// equal value. Throws Error{invalid_spec} if a text is not UTF-8.
[[nodiscard]] std::string to_json(const TileProgram& program);

/// A program that computes what the formula computes, which is its `verify`. Formulas that work
/// element by element or reduce along the last axis. Ignores `tuning`. Throws what `validate`
/// throws, and Error{unsupported} for other reductions and for scans, saying what to do.
[[nodiscard]] TileProgram to_program(const Fused& op);

/// The program of an Operation; null for other operations. Lives as long as `op`.
[[nodiscard]] const TileProgram* tile_program(const Operation& op) noexcept;

/// What a block of the program has and does, for people, on several lines: its launch, tensors and
/// tiles with their bytes. Throws as `validate` does.
[[nodiscard]] std::string describe(const TileProgram& program);

/// How a program is interpreted.
struct InterpretOptions {
  /// Called now and then; true ends the run with Error{cancelled}.
  std::function<bool()> interrupted = {};
  /// Takes what `Print` prints, a line each.
  std::function<void(std::string_view line)> print = {};
  /// Takes the tile or scalar that each statement of block `traced` made: "line 7: acc = ...".
  std::function<void(std::string_view text)> trace = {};
  std::int64_t traced = 0;                          ///< block, x fastest
  std::int64_t max_statements = 100'000'000;        ///< executed, over all blocks
  std::int64_t max_operations = 1'000'000'000'000;  ///< on elements, over all blocks
  std::int64_t max_memory = std::int64_t{1} << 30;  ///< bytes of tiles of one block
};

/// Runs the program on the CPU, block after block, into the output tensors: in double, each tile
/// rounded once to its dtype, integers exactly. Throws what validate throws;
/// Error{invalid_argument} if an argument is missing or an `Assert` fails, or for an element
/// outside its tensor's memory, with the line; Error{unsupported} beyond a limit; Error{cancelled}.
void interpret(const TileProgram& program, const HostArguments& args,
               const InterpretOptions& options = {});

}  // namespace tilejit
