#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/functions.hpp"
#include "expr/lexer.hpp"
#include "expr/message.hpp"
#include "expr/program.hpp"
#include "expr/weak.hpp"

namespace tilejit::expr {

/// What a name of an expression stands for.
struct Operand {
  enum class Kind : std::uint8_t {
    literal,  ///< a value without a dtype, as if it were written in place of the name
    tensor,   ///< an element of tensor `source`: an Op::load
    scalar,   ///< scalar `source`: an Op::scalar
  };
  Kind kind = Kind::literal;
  Weak literal = false;
  DType dtype = f32;
  int source = -1;
};

/// What an expression may refer to.
struct ExpressionScope {
  /// What a name stands for; nothing if it is unknown. May throw Error for a name that is known but
  /// may not be read here. `position` is a byte offset in the text.
  std::function<std::optional<Operand>(std::string_view name, std::size_t position)> find;
  std::vector<std::string_view> known = {};  ///< names that an unknown one may be meant for
  const FunctionTable* functions = nullptr;  ///< never null when used
  int rank = 0;                              ///< axes that `iota` and `extent` may name
  Dialect dialect = {};
  /// The dtype that the value is converted to, as when it is assigned to a tensor.
  std::optional<DType> stored = {};
  /// What to do instead of a reduction or scan, if there may be none; empty: there may.
  std::string advice = {};
};

/// One expression, parsed and typed.
struct Expression {
  std::vector<Node> nodes = {};  ///< operands before users
  NodeId value = kNoNode;        ///< the last node; kNoNode: the value is `literal`
  Weak literal = false;          ///< a value that is known and has no dtype
  [[nodiscard]] bool is_known() const noexcept { return value == kNoNode; }
};

/// Parses and types the expression `text`, with the limits of formulas. Throws
/// Error{invalid_formula} with a caret under the place.
[[nodiscard]] Expression compile_expression(const SourceText& text, const ExpressionScope& scope);

}  // namespace tilejit::expr
