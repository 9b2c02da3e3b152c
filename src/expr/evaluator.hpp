#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "expr/ast.hpp"
#include "expr/axes.hpp"
#include "expr/functions.hpp"
#include "expr/typer.hpp"

namespace tilejit::expr {

class TreeNotes;
struct Place;

/// A name where a text reads it.
struct NameRead {
  std::string_view name;
  std::size_t position = 0;
  bool transposed = false;  ///< x.T
};

/// Walks the trees of a text and of the functions that it calls, in order of evaluation. Keeps
/// views of its arguments.
class Evaluator {
 public:
  using ReadName = std::function<Value(const NameRead& name)>;

  /// `advice` is what to do about a reduction or scan, if the text may have none; empty: it may.
  /// Without `notes`, there are no products.
  Evaluator(const FunctionTable& functions, const AxisTable& axes, Typer& typer,
            const SourceText& text, std::string advice = {}, TreeNotes* notes = nullptr)
      : functions_(functions),
        axes_(axes),
        typer_(typer),
        text_(text),
        advice_(std::move(advice)),
        notes_(notes) {}

  /// The value of `range`, a part of `text`. Throws Error{invalid_formula}.
  Value evaluate(const ParsedText& text, AstRange range, const ReadName& read);

 private:
  using CallKey = std::vector<std::uint64_t>;

  [[nodiscard]] std::string call_site(const ParsedText& text) const;
  Value apply(const ParsedText& text, const AstNode& node, const std::vector<Value>& args,
              const ReadName& read);
  [[nodiscard]] Place place_of(const ParsedText& text, const AstNode& node) const;
  [[nodiscard]] std::uint32_t axes_of(const ParsedText& text, const AstNode& node,
                                      const AxesNamed& named) const;
  Value multiplied(const ParsedText& text, const AstNode& node, const std::vector<Value>& args);
  Value called(const ParsedText& text, const AstNode& node, const std::vector<Value>& args);
  Value reduced(const Reduction& reduction, const ParsedText& text, const AstNode& node,
                const std::vector<Value>& args);
  Value scanned(const Scan& scan, const ParsedText& text, const AstNode& node, const Value& arg);
  Value inlined(std::size_t function, const std::vector<Value>& args, std::size_t position);
  static CallKey call_key(std::size_t function, const std::vector<Value>& args);

  const FunctionTable& functions_;
  const AxisTable& axes_;
  Typer& typer_;
  const SourceText& text_;
  std::string advice_;
  TreeNotes* notes_;
  std::vector<std::size_t> calls_;  // positions of the calls being inlined
  std::map<CallKey, Value> inlined_;
  std::size_t steps_ = 0;
};

}  // namespace tilejit::expr
