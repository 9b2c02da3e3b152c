// A program that computes what a formula computes: a block loads a tile of each input, computes the
// formula on tiles, and stores a tile of each output.

#include <algorithm>
#include <bit>

#include "formula/analysis.hpp"
#include "program/check.hpp"
#include "program/formula_text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/program_builder.hpp"

namespace tilejit {
namespace {

constexpr std::int64_t kRowTile = 1024;  // elements of an axis that is tiled alone, or reduced
constexpr std::int64_t kTileM = 4, kTileN = 256;
constexpr std::int64_t kElementsPerThread = 16;

[[noreturn]] void refuse_translation(const std::string& what) {
  throw Error(ErrorCode::unsupported, "no program for this formula: " + what);
}

/// The text beside `//` and `%`: a product is in parentheses.
std::string operand(const std::string& text) {
  return text.find('*') == text.npos ? text : "(" + text + ")";
}

bool is_narrow(DType dtype) {
  return is_floating(dtype) && dtype != f32 && dtype != f64;
}

/// Builds the program of one formula.
class Translation {
 public:
  explicit Translation(const Fused& op)
      : op_(op), analysis_(formula::analyze(op)), reduces_(program::calls_reduction(op.formula)) {}

  TileProgram run() {
    check();
    program_ = {.name = op_.name,
                .symbols = op_.symbols,
                .tensors = op_.tensors,
                .scalars = op_.scalars,
                .functions = op_.functions};
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      const bool is_read_alone = analysis_.access[t] == Access::in;
      program_.tensors[t].access = is_read_alone ? Access::automatic : analysis_.access[t];
    }
    tiles();
    threads();
    blocks();
    names();
    const program::RewrittenFormula formula = program::rewritten(op_.formula, space_);
    if (space_.is_ragged) {
      body_.add(TileAssert{space_.axes.back().extent + " <= " + space_.axes.back().tile,
                           "a row is one tile; raise " + space_.axes.back().tile});
    }
    for (const auto& line : formula.lines) program_.verify.emplace_back(line.text);
    statements(formula);
    program_.body.insert(program_.body.end(), lets_.begin(), lets_.end());
    for (TileStatement& statement : body_.take()) program_.body.push_back(std::move(statement));
    (void)program::check(program_, {});
    return std::move(program_);
  }

 private:
  void check() const {
    const auto last = static_cast<int>(analysis_.shape.size()) - 1;
    for (const int axis : op_.axis) {
      if (op_.axis.size() > 1 || (axis != last && axis != -1))
        refuse_translation(
            "its reductions take other axes than the last; write the program, or swap the axes");
    }
    for (const Function& function : op_.functions) {
      if (program::depends_on_space(function.expr))
        refuse_translation("the function " + function.name +
                           " has a reduction, a scan or a coordinate; write it "
                           "into the formula");
    }
  }

  /// A name that the formula does not have.
  std::string fresh(std::string name) const {
    const auto taken = [&](const std::string& candidate) {
      const auto is = [&](const auto& named) { return named.name == candidate; };
      return analysis_.symbols.contains(candidate) || std::ranges::any_of(op_.tensors, is) ||
             std::ranges::any_of(op_.scalars, is) || std::ranges::any_of(op_.functions, is) ||
             std::ranges::any_of(program_.constants, is) ||
             op_.formula.find(candidate) != std::string::npos;
    };
    while (taken(name)) name += '_';
    return name;
  }

  std::string constant(const char* name, std::int64_t value) {
    program_.constants.push_back({fresh(name), value});
    return program_.constants.back().name;
  }

  /// The example of a symbolic extent, or 0.
  [[nodiscard]] std::int64_t example_of(const Dim& extent) const {
    SymbolValues examples;
    for (const Symbol& symbol : op_.symbols) {
      if (symbol.example) examples[symbol.name] = *symbol.example;
    }
    for (const std::string& symbol : extent.symbols()) {
      if (!examples.contains(symbol)) return 0;
    }
    return extent.evaluate(examples);
  }

  /// At most `most`, and not much more than the extent.
  static std::int64_t tile_of(const Dim& extent, std::int64_t most) {
    if (!extent.is_known()) return most;
    const auto rounded =
        std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(extent.value(), 1)));
    return std::min(most, static_cast<std::int64_t>(rounded));
  }

  void tiles() {
    const std::size_t rank = analysis_.shape.size();
    for (const Dim& extent : analysis_.shape) space_.axes.push_back({to_string(extent), "1", "0"});
    const Dim& last = analysis_.shape.back();
    if (reduces_ && last.is_known()) {
      space_.is_ragged = last.is(0);
      space_.axes.back().tile = constant("T", std::max<std::int64_t>(last.value(), 1));
    } else if (reduces_) {
      space_.is_ragged = true;
      const auto example = static_cast<std::uint64_t>(std::max(example_of(last), kRowTile));
      space_.axes.back().tile = constant("T", static_cast<std::int64_t>(std::bit_ceil(example)));
    } else if (rank == 1) {
      space_.axes[0].tile = constant("T", tile_of(last, kRowTile));
    } else {
      space_.axes[rank - 2].tile = constant("TM", tile_of(analysis_.shape[rank - 2], kTileM));
      space_.axes.back().tile = constant("TN", tile_of(last, kTileN));
    }
  }

  /// More threads for tiles that would take many registers of each.
  void threads() {
    std::int64_t elements = 1;
    for (const TileConstant& extent : program_.constants) elements *= extent.value.bits();
    if (elements <= kTileM * kTileN) return;
    const auto wanted = std::bit_ceil(static_cast<std::uint64_t>(elements / kElementsPerThread));
    const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 128, 1024);
    program_.launch.block = {count};
  }

  /// Blocks along x take the tiles one after another, those along the last axis first.
  void blocks() {
    index_.assign(space_.axes.size(), "0");
    std::vector<std::size_t> split;
    for (std::size_t a = 0; a < space_.axes.size(); ++a) {
      if (a + 1 < space_.axes.size() || !reduces_) split.push_back(a);
    }
    std::string all, after;
    for (auto axis = split.rbegin(); axis != split.rend(); ++axis) {
      SpaceAxis& own = space_.axes[*axis];
      const std::string count =
          own.tile == "1" ? operand(own.extent) : "ceil_div(" + own.extent + ", " + own.tile + ")";
      std::string number = "block_idx.x";
      if (!after.empty()) number += " // " + operand(after);
      if (*axis != split.front()) number += " % " + count;
      index_[*axis] = number;
      if (split.size() > 1) {
        index_[*axis] = fresh("i" + std::to_string(*axis));
        lets_.insert(lets_.begin(), TileStatement{TileLet{index_[*axis], number}});
      }
      own.origin = own.tile == "1" ? index_[*axis] : index_[*axis] + " * " + own.tile;
      after += (after.empty() ? "" : " * ") + count;
    }
    program_.launch.grid = {after.empty() ? "1" : after};
  }

  void names() {
    space_.zero = fresh("zero");
    const int last = static_cast<int>(space_.axes.size()) - 1;
    const auto is_integer_scalar = [](const Scalar& scalar) { return !is_floating(scalar.dtype); };
    space_.has_integers = std::ranges::any_of(op_.scalars, is_integer_scalar);
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      const Tensor& tensor = op_.tensors[t];
      space_.has_integers = space_.has_integers || !is_floating(tensor.dtype);
      const auto& axes = analysis_.axes[t];
      const bool varies =
          !axes.empty() && axes.back() == last && !size(mode(tensor.layout, axes.size() - 1)).is(1);
      if (varies && analysis_.access[t] != Access::out) space_.varying.insert(tensor.name);
    }
  }

  using SpaceAxis = program::SpaceAxis;
  using Texts = std::vector<TileExpression>;

  /// The tile of a tensor along each of its modes, and where it is.
  struct Part {
    Texts tile, at;
  };
  [[nodiscard]] Part part_of(std::size_t t, bool all_axes) const {
    Part part;
    const auto& axes = analysis_.axes[t];
    std::size_t mode_number = 0;
    for (std::size_t a = 0; a < space_.axes.size(); ++a) {
      const bool has = mode_number < axes.size() && axes[mode_number] == static_cast<int>(a);
      if (!has && !all_axes) continue;
      const bool one = !has || size(mode(op_.tensors[t].layout, mode_number)).is(1);
      mode_number += has ? 1 : 0;
      part.tile.emplace_back(one ? "1" : space_.axes[a].tile);
      part.at.emplace_back(one ? "0" : index_[a]);
    }
    return part;
  }

  [[nodiscard]] bool leaves_axes_out(std::size_t t) const {
    return analysis_.access[t] == Access::out && analysis_.axes[t].size() < space_.axes.size();
  }

  void statements(const program::RewrittenFormula& formula) {
    if (formula.uses_zero) {
      Texts shape;
      for (const SpaceAxis& axis : space_.axes) shape.emplace_back(axis.tile);
      body_.tile(space_.zero, TileSpace::registers, shape, i64, 0);
    }
    const auto is_temporary = [&](const auto& line) { return !tensor_of(line.name); };
    const bool has_temporaries = std::ranges::any_of(formula.lines, is_temporary);
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      if (analysis_.access[t] == Access::out) continue;
      const Tensor& tensor = op_.tensors[t];
      Part part = part_of(t, false);
      body_.load(tensor.name, part.tile, tile_at(part.at), TileSpace::registers, TilePad::zero);
      // A temporary is not rounded in a formula; a tile is, to its dtype.
      if (has_temporaries && is_narrow(tensor.dtype))
        body_.compute(tensor.name, "cast(" + tensor.name + ", f32)");
    }
    for (const auto& line : formula.lines) {
      if (const auto t = tensor_of(line.name)) {
        output(*t, line.value);
      } else {
        body_.compute(line.name, line.value);
      }
    }
  }

  [[nodiscard]] std::optional<std::size_t> tensor_of(const std::string& name) const {
    const auto found = std::ranges::find(op_.tensors, name, &Tensor::name);
    if (found == op_.tensors.end()) return std::nullopt;
    return static_cast<std::size_t>(found - op_.tensors.begin());
  }

  void output(std::size_t t, const std::string& value) {
    const Tensor& tensor = op_.tensors[t];
    const Part part = part_of(t, true);
    if (analysis_.access[t] == Access::inout) {
      const std::string dtype(to_string(tensor.dtype));
      body_.compute(tensor.name, "cast(" + value + ", " + dtype + ")");
    } else {
      if (leaves_axes_out(t)) view(t);
      body_.tile(tensor.name, TileSpace::registers, part.tile, tensor.dtype);
      body_.compute(tensor.name, value);
    }
    body_.store(tensor.name, part.tile, tile_at(part.at));
  }

  /// An output without the reduced axes, as one with extents of 1 there.
  void view(std::size_t t) {
    const Tensor& tensor = op_.tensors[t];
    Texts shape, stride;
    std::size_t own = 0;
    for (std::size_t a = 0; a < space_.axes.size(); ++a) {
      const bool has =
          own < analysis_.axes[t].size() && analysis_.axes[t][own] == static_cast<int>(a);
      const Layout along = has ? mode(tensor.layout, own++) : Layout("1:1");
      if (along.leaves().size() != 1)
        refuse_translation("the layout of " + tensor.name + " has nested modes");
      shape.emplace_back(to_string(along.leaves()[0].extent));
      stride.emplace_back(to_string(along.leaves()[0].stride));
    }
    body_.add(TileAllocate{.name = tensor.name,
                           .space = TileSpace::global,
                           .shape = shape,
                           .offset = 0,
                           .stride = stride});
  }

  const Fused& op_;
  const formula::Analysis analysis_;
  const bool reduces_;
  TileProgram program_;
  TileBuilder body_;
  TileBody lets_;
  program::SpaceText space_;
  std::vector<std::string> index_;  // of the block's tile along each axis
};

}  // namespace

TileProgram to_program(const Fused& op) {
  return Translation(op).run();
}

}  // namespace tilejit
