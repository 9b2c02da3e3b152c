#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "expr/message.hpp"
#include "expr/weak.hpp"

namespace tilejit::expr {

/// Index into ParsedText::nodes.
using AstId = std::uint32_t;
inline constexpr std::uint32_t kNoKeywords = 0xffffffff;

/// One node of a parsed expression, untyped.
struct AstNode {
  enum class Kind : std::uint8_t {
    literal,     ///< `literal`
    name,        ///< `text`
    plus,        ///< unary +
    unary,       ///< `op` on one operand
    binary,      ///< `op` on two operands
    cast,        ///< one operand to `dtype`
    call,        ///< function `text` of the operands; the `init` of a reduction is the last operand
    iota,        ///< the coordinate along the axis of `axes`
    extent,      ///< the product of the extents of `axes`
    transposed,  ///< `text`, the name of a tensor, with its last two modes swapped
  };
  Kind kind = Kind::literal;
  Op op = Op::constant;
  DType dtype = DType::f32;
  std::size_t position = 0;    ///< byte offset that a message points to
  std::string_view text = {};  ///< a view into the source
  Weak literal = false;
  std::uint32_t operands = 0;            ///< index of the first in ParsedText::operands
  std::uint32_t count = 0;               ///< number of operands
  std::uint32_t keywords = kNoKeywords;  ///< index in ParsedText::keywords
};

/// An axis as written: negative ones count from the last.
struct AxisLiteral {
  std::int64_t value = 0;
  std::size_t position = 0;
};

/// What a call says about axes and the order of a scan, and whether its last operand is `init=`.
struct Keywords {
  std::optional<std::vector<AxisLiteral>> axes = {};
  std::optional<std::size_t> init = {};  ///< position of the keyword
  std::optional<bool> exclusive = {}, reverse = {};
};

/// A contiguous run of nodes, operands before their users; the last one is the value.
struct AstRange {
  AstId begin = 0;
  AstId end = 0;
};

/// `name = value`. The text of a function holds one statement, without a name.
struct Statement {
  std::string_view name = {};
  std::size_t position = 0;  ///< of the name
  AstRange value = {};
};

/// A text and its trees. Nodes lie in the order of evaluation, so a plain loop walks them: a chain
/// of thousands of operators needs no stack.
struct ParsedText {
  SourceText source;
  std::vector<AstNode> nodes;
  std::vector<AstId> operands;
  std::vector<Keywords> keywords;
  std::vector<Statement> statements;
};

}  // namespace tilejit::expr
