// Expressions of programs: names to slots, types, shapes.
#include <algorithm>
#include <cmath>

#include "core/suggestion.hpp"
#include "expr/names.hpp"
#include "program/scope.hpp"
#include "program/style.hpp"

namespace tilejit::program {
namespace {

using expr::Operand;

constexpr std::int64_t kMostElements = std::int64_t{1} << 24;  // of a tile

constexpr std::string_view kIndices[] = {"block_idx", "grid_dim", "block_dim", "thread_idx"};

/// The number of a builtin scalar such as block_idx.x; nothing for other names.
std::optional<int> builtin_number(std::string_view name) {
  if (name == "tid") return kTid;
  const std::size_t dot = name.find('.');
  if (dot == name.npos) return std::nullopt;
  const auto* const word = std::ranges::find(kIndices, name.substr(0, dot));
  const std::size_t axis = std::string_view("xyz").find(name.substr(dot + 1));
  if (word == std::end(kIndices) || name.size() != dot + 2 || axis > 2) return std::nullopt;
  return static_cast<int>(3 * (word - std::begin(kIndices))) + static_cast<int>(axis);
}

std::vector<expr::Token> names_in(const expr::SourceText& text) {
  std::vector<expr::Token> names;
  for (const expr::Token& token : expr::tokenize(text, kExpressionDialect)) {
    if (token.kind == expr::Token::Kind::name) names.push_back(token);
  }
  return names;
}

}  // namespace

std::optional<Operand> Scope::builtin(std::string_view name, std::size_t position,
                                      const expr::SourceText& text) {
  const auto number = builtin_number(name);
  if (!number) return std::nullopt;
  if (*number >= kThreadIdx && in_thread == 0) {
    expr::fail_at(text, position,
                  "'" + std::string(name) +
                      "' differs between the threads of a block: it stands in the condition of an "
                      "'if', and inside that; tiles have iota(axis)");
  }
  return Operand{.kind = Operand::Kind::scalar, .dtype = i64, .source = *number};
}

std::optional<Operand> Scope::operand(std::string_view name, std::size_t position,
                                      const expr::SourceText& text) {
  if (const TileBinding* const tile = tile_of(name)) {
    if (!tile->facts.filled) {
      expr::fail_at(text, position,
                    "'" + std::string(name) +
                        "' is read before it has values; Allocate it with '= 0', or compute it "
                        "first");
    }
    return Operand{.kind = Operand::Kind::tensor,
                   .dtype = code_.tiles[static_cast<std::size_t>(tile->slot)].type.dtype,
                   .source = tile->slot};
  }
  if (const auto scalar = scalars_.find(name); scalar != scalars_.end()) {
    used_.insert(std::string(name));
    if (scalar->second.known) return Operand{.literal = *scalar->second.known};
    return Operand{.kind = Operand::Kind::scalar,
                   .dtype = code_.scalars[static_cast<std::size_t>(scalar->second.slot)],
                   .source = scalar->second.slot};
  }
  if (views_.contains(name)) {
    expr::fail_at(text, position,
                  "'" + std::string(name) +
                      "' is a tensor in global memory; Copy a tile of it to register first");
  }
  if (name.ends_with(".T")) {
    expr::fail_at(text, position,
                  "'.T' is for operands of GEMM; write 'Reshape " +
                      std::string(name.substr(0, name.size() - 2)) +
                      " permute (1, 0) as' and a name");
  }
  if (ended_.contains(name)) {
    expr::fail_at(text, position, "unknown name '" + std::string(name) + "'" + advice_for(name));
  }
  return builtin(name, position, text);
}

Value Scope::compiled(const expr::SourceText& text, const Extents& space,
                      std::optional<DType> stored, bool tiles_allowed, const std::string& what) {
  expr::ExpressionScope names;
  names.find = [&](std::string_view name, std::size_t position) {
    if (!tiles_allowed && tile_of(name) != nullptr) {
      expr::fail_at(text, position,
                    "'" + std::string(name) + "' is a tile, and " + what + " is a scalar");
    }
    return operand(name, position, text);
  };
  names.known = known_names();
  names.functions = &functions_;
  names.rank = static_cast<int>(space.size());
  names.dialect = kExpressionDialect;
  names.stored = stored;
  return {.code = expr::compile_expression(text, names), .space = space};
}

Extents Scope::space_of(const expr::SourceText& text) {
  Extents space;
  std::string first;
  for (const expr::Token& token : names_in(text)) {
    const TileBinding* const tile = tile_of(token.text);
    if (tile == nullptr) continue;
    const Extents& shape = code_.tiles[static_cast<std::size_t>(tile->slot)].type.shape;
    const auto both = broadcast(space, shape);
    if (!both) {
      expr::fail_at(text, token.position,
                    "'" + std::string(token.text) + "' is " + to_string(shape) +
                        ", which does not fit " + to_string(space) +
                        " of the tiles before it: axes are equal, or 1, counted from the last");
    }
    space = *both;
  }
  return space;
}

Value Scope::tile_value(const expr::SourceText& text, const std::optional<Extents>& space,
                        std::optional<DType> stored) {
  const Extents own = space_of(text);
  if (!space) {
    if (count_of(own) > kMostElements) {
      expr::fail_at(text, 0, "the tile would have more than 2^24 elements; use smaller ones");
    }
    return compiled(text, own, stored, true, {});
  }
  const auto both = broadcast(own, *space);
  if (!both || *both != *space) {
    expr::fail_at(text, 0,
                  "the value is " + to_string(own) + ", which does not fit " + to_string(*space) +
                      ": axes are equal, or 1, counted from the last");
  }
  return compiled(text, *space, stored, true, {});
}

Value Scope::scalar_value(const TileExpression& expression, const std::string& what) {
  return compiled(source_.part(expression.place()), {}, std::nullopt, false, what);
}

Value Scope::scalar_of(const std::string& text) {
  const expr::SourceText source{.text = text, .title = "program", .where = {}};
  return compiled(source, {}, std::nullopt, false, "a value");
}

Value Scope::condition(const TileExpression& expression, const std::string& what) {
  const expr::SourceText text = source_.part(expression.place());
  const Extents space = space_of(text);
  if (count_of(space) != 1) {
    expr::fail_at(text, 0,
                  what + " reads tiles of one element, and here they are " + to_string(space) +
                      "; Compute ReduceAny or ReduceAll first");
  }
  return compiled(text, space, std::nullopt, true, what);
}

Value Scope::integer(const TileExpression& expression, const std::string& what) {
  Value value = scalar_value(expression, what);
  const bool is_integer_value =
      value.code.is_known()
          ? !std::holds_alternative<double>(value.code.literal)
          : is_integer(value.code.nodes.back().type) || value.code.nodes.back().type == b8;
  if (!is_integer_value) {
    source_.fail_at(expression.place().begin,
                    what + " is an integer; '/' makes a float, '//' rounds down");
  }
  return value;
}

std::int64_t Scope::extent(const TileExpression& expression) {
  const Value value = integer(expression, "an extent of a tile");
  if (!value.code.is_known()) {
    source_.fail_at(expression.place().begin,
                    "an extent of a tile is known before the launch: use integers and constants, "
                    "not '" +
                        expression.text() + "'");
  }
  const double extent = expr::to_double(value.code.literal);
  if (!(extent >= 1 && extent <= static_cast<double>(kMostElements))) {
    source_.fail_at(expression.place().begin, "an extent of a tile is from 1 to 2^24, not " +
                                                  expr::to_string(value.code.literal));
  }
  return static_cast<std::int64_t>(extent);
}

SymbolValues Scope::known_integers() const {
  SymbolValues values;
  for (const auto& [name, scalar] : scalars_) {
    if (!scalar.known) continue;
    const auto* const value = std::get_if<expr::WideInt>(&*scalar.known);
    if (value == nullptr || *value < INT64_MIN || *value > INT64_MAX) continue;
    values.emplace(name, static_cast<std::int64_t>(*value));
  }
  return values;
}

Facts Scope::facts_of(std::string_view text) {
  Facts facts{.filled = true};
  bool chooses = false;
  for (const expr::Token& token : names_in({text, "program", {}})) {
    chooses = chooses || token.text == "where";
    const TileBinding* const tile = tile_of(token.text);
    if (tile == nullptr) continue;
    if (tile->facts.ragged) facts.ragged = tile->facts.ragged;
    facts.product = facts.product || tile->facts.product;
  }
  if (chooses) facts.ragged.reset();  // a mask that the author wrote
  return facts;
}

}  // namespace tilejit::program
