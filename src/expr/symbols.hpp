#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/ast.hpp"
#include "expr/evaluator.hpp"
#include "expr/functions.hpp"
#include "expr/tree.hpp"
#include "expr/typer.hpp"

namespace tilejit::expr {

/// The names that a formula reads and assigns, and their state as its statements are processed in
/// order. Messages point into the formula. Keeps views of the scope and the formula.
class Symbols {
 public:
  /// `notes` are those of a tree, if one is made.
  Symbols(const Scope& scope, const FunctionTable& functions, const ParsedText& formula,
          Graph& graph, Typer& typer, TreeNotes* notes = nullptr);

  /// Evaluates and assigns statement by statement. Throws Error.
  void evaluate_all(Evaluator& evaluator);
  /// The program, after every statement has been processed. Throws Error if an output is not
  /// assigned, or if a tensor or scalar is not used.
  [[nodiscard]] Program finish() const;
  /// The same for a tree.
  void finish(Tree& tree) const;

 private:
  struct Tensor {
    std::optional<NodeId> stored = {};  // what later reads see
    // Position of the first read of the element's original value.
    std::optional<std::size_t> first_read = {};
  };

  /// The value of `name`. Throws Error for unknown names, and for outputs and temporaries that have
  /// no value yet.
  Value read(const NameRead& name);
  /// Throws Error if the name may not be assigned (again).
  void assign(const Statement& statement, const Value& value);
  [[noreturn]] void fail(std::size_t position, const std::string& message) const;
  [[noreturn]] void fail_unknown(std::string_view name, std::size_t position) const;
  Value read_tensor(std::size_t index, const NameRead& name);
  void assign_tensor(std::size_t index, const Statement& statement, const Value& value);
  void assign_temporary(const Statement& statement, const Value& value);
  void check_outputs() const;
  /// Advice if a temporary was assigned whose name is close to that of tensor `name`; else empty.
  [[nodiscard]] std::string meant_for(std::string_view name) const;
  [[noreturn]] void fail_without_output() const;
  /// `reads` are the numbers of the tensors that loads read, in a tree; else empty.
  void check_all_used(const Program& program, const std::vector<int>& reads) const;

  const Scope& scope_;
  const FunctionTable& functions_;
  const ParsedText& formula_;
  Graph& graph_;
  Typer& typer_;
  TreeNotes* notes_;
  std::map<std::string_view, std::size_t> tensor_indices_;
  std::map<std::string_view, std::size_t> scalar_indices_;
  std::vector<Tensor> tensors_;
  std::map<std::string_view, Value> temporaries_;
  std::vector<Store> stores_;
};

}  // namespace tilejit::expr
