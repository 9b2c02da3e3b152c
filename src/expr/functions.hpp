#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "expr/ast.hpp"
#include "expr/names.hpp"
#include "expr/program.hpp"

namespace tilejit::expr {

inline constexpr std::size_t kMaxCallDepth = 200;

/// The reduction that `call`, a node of `text`, means; nullptr if it is none. `min` and `max` are
/// reductions if they have one argument or keywords.
[[nodiscard]] const Reduction* reduction_called(const ParsedText& text, const AstNode& call);

/// The keywords of `call`, a node of `text`; none if it has no keywords.
[[nodiscard]] Keywords keywords_given(const ParsedText& text, const AstNode& call);

/// The parsed functions of a scope and those prelude functions that they do not hide. Their names,
/// arguments and calls have been checked, and no function calls itself, directly or indirectly.
class FunctionTable {
 public:
  /// Throws Error{invalid_formula}.
  explicit FunctionTable(const std::vector<FunctionText>& functions);
  FunctionTable(const FunctionTable&) = delete;  // holds views of its own strings
  FunctionTable& operator=(const FunctionTable&) = delete;

  /// The built-in function that a call of `name` means; nullptr if it means a function of the
  /// table.
  [[nodiscard]] const Builtin* builtin(std::string_view name) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] const ParsedText& body(std::size_t function) const { return bodies_[function]; }
  /// The position of `name` among the arguments of a function.
  [[nodiscard]] std::optional<std::size_t> argument(std::size_t function,
                                                    std::string_view name) const;

  /// Throws Error unless `call`, a node of `text`, names a built-in function or one of the table
  /// and has the operands and keywords that this function takes.
  void check_call(const ParsedText& text, const AstNode& call) const;

 private:
  void declare(std::size_t function);
  void check_body(std::size_t function) const;
  void check_cycles() const;
  void check_function(const SourceText& text, const AstNode& call) const;

  std::vector<FunctionText> functions_;
  std::map<std::string_view, std::size_t> indices_;
  std::vector<std::map<std::string_view, std::size_t>> arguments_;
  std::vector<ParsedText> bodies_;
};

}  // namespace tilejit::expr
