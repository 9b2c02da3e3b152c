#include "expr/symbols.hpp"

#include <algorithm>

#include "core/suggestion.hpp"
#include "expr/centred_sums.hpp"
#include "expr/names.hpp"
#include "expr/nested_sums.hpp"
#include "tilejit/error.hpp"

namespace tilejit::expr {

Symbols::Symbols(const Scope& scope, const FunctionTable& functions, const ParsedText& formula,
                 Graph& graph, Typer& typer, TreeNotes* notes)
    : scope_(scope),
      functions_(functions),
      formula_(formula),
      graph_(graph),
      typer_(typer),
      notes_(notes),
      tensors_(scope.tensors.size()) {
  for (std::size_t i = 0; i < scope.tensors.size(); ++i)
    tensor_indices_.emplace(scope.tensors[i].name, i);
  for (std::size_t i = 0; i < scope.scalars.size(); ++i)
    scalar_indices_.emplace(scope.scalars[i].name, i);
}

void Symbols::fail(std::size_t position, const std::string& message) const {
  fail_at(formula_.source, position, message);
}

void Symbols::fail_unknown(std::string_view name, std::size_t position) const {
  const auto later =
      std::find_if(formula_.statements.begin(), formula_.statements.end(),
                   [&](const Statement& statement) { return statement.name == name; });
  if (later != formula_.statements.end()) {
    fail(position, "temporary " + quoted(name) + " is read before it is assigned");
  }
  if (functions_.find(name) || find_builtin(name) != nullptr)
    fail(position, quoted(name) + " is a function: call it");
  std::vector<std::string_view> known;
  for (const auto& [known_name, index] : tensor_indices_) known.push_back(known_name);
  for (const auto& [known_name, index] : scalar_indices_) known.push_back(known_name);
  for (const auto& [known_name, value] : temporaries_) known.push_back(known_name);
  fail(position, "unknown name " + quoted(name) + suggestion(name, known));
}

void Symbols::evaluate_all(Evaluator& evaluator) {
  for (const Statement& statement : formula_.statements) {
    const Value value = evaluator.evaluate(formula_, statement.value,
                                           [&](const NameRead& name) { return read(name); });
    try {
      assign(statement, value);
    } catch (const Fault& fault) {
      fail(statement.position, fault.message);
    }
  }
}

Value Symbols::read(const NameRead& read) {
  const std::string_view name = read.name;
  if (const auto tensor = tensor_indices_.find(name); tensor != tensor_indices_.end()) {
    return read_tensor(tensor->second, read);
  }
  if (read.transposed) {
    fail(read.position, quoted(name) +
                            " is no tensor: '.T' swaps the modes of a tensor, since a "
                            "transposed value is a matter of layouts");
  }
  if (const auto scalar = scalar_indices_.find(name); scalar != scalar_indices_.end()) {
    Node node;
    node.op = Op::scalar;
    node.type = scope_.scalars[scalar->second].dtype;
    node.source = static_cast<int>(scalar->second);
    return graph_.add(node);
  }
  if (const auto temporary = temporaries_.find(name); temporary != temporaries_.end()) {
    return temporary->second;
  }
  fail_unknown(name, read.position);
}

Value Symbols::read_tensor(std::size_t index, const NameRead& name) {
  const TensorSymbol& symbol = scope_.tensors[index];
  Tensor& tensor = tensors_[index];
  if (tensor.stored && notes_ == nullptr) return *tensor.stored;
  const bool assigned = tensor.stored.has_value();
  if (!assigned && !symbol.readable_first) {
    fail(name.position,
         "output " + quoted(symbol.name) +
             " is read before it is assigned; declare it \"access\": \"inout\" if the old "
             "value is meant");
  }
  if (!assigned && !tensor.first_read) tensor.first_read = name.position;
  Node node;
  node.op = Op::load;
  node.type = symbol.dtype;
  node.source = static_cast<int>(index);
  if (notes_ != nullptr) {
    node.source = notes_->read({node.source, name.transposed, assigned},
                               {formula_.source, name.position, {}});
  }
  return graph_.add(node);
}

void Symbols::assign(const Statement& statement, const Value& value) {
  if (const auto tensor = tensor_indices_.find(statement.name); tensor != tensor_indices_.end()) {
    assign_tensor(tensor->second, statement, value);
  } else {
    assign_temporary(statement, value);
  }
}

void Symbols::assign_tensor(std::size_t index, const Statement& statement, const Value& value) {
  const TensorSymbol& symbol = scope_.tensors[index];
  Tensor& tensor = tensors_[index];
  const std::string name = quoted(symbol.name);
  if (!symbol.writable) {
    fail(statement.position, "tensor " + name + " is declared \"in\" and cannot be assigned");
  }
  if (tensor.stored) {
    fail(statement.position,
         "output " + name + " is assigned twice; use a temporary for the first value");
  }
  if (symbol.must_declare && tensor.first_read) {
    fail(*tensor.first_read,
         "tensor " + name + " is read and then assigned: declare it \"access\": \"inout\"");
  }
  const NodeId stored = typer_.stored(value, symbol.dtype);
  tensor.stored = typer_.cast(stored, symbol.dtype);
  stores_.push_back({static_cast<int>(index), stored});
}

void Symbols::assign_temporary(const Statement& statement, const Value& value) {
  const std::string name = quoted(statement.name);
  const auto refuse = [&](const std::string& what) {
    fail(statement.position, name + " is " + what + " and cannot be assigned; choose another name");
  };
  if (is_reserved(statement.name)) refuse("a word of the language");
  if (scalar_indices_.contains(statement.name)) refuse("a scalar");
  if (std::ranges::count(scope_.functions, statement.name, &FunctionText::name) != 0)
    refuse("a function");
  if (!temporaries_.emplace(statement.name, value).second) {
    fail(statement.position,
         "temporary " + name + " is assigned twice; give the second value another name");
  }
}

Program Symbols::finish() const {
  check_outputs();
  Program program = graph_.prune(stores_);
  check_all_used(program, {});
  try {
    return correct_centred_sums(merge_nested_sums(program));
  } catch (const Fault& fault) {
    fail(0, fault.message);
  }
}

void Symbols::finish(Tree& tree) const {
  check_outputs();
  std::vector<Store> wanted = stores_;
  for (const Store& store : stores_) {
    wanted.push_back({store.tensor, *tensors_[static_cast<std::size_t>(store.tensor)].stored});
  }
  Program program = graph_.prune(wanted);
  std::vector<int> reads;
  for (const Tree::Read& read : tree.reads) reads.push_back(read.what.tensor);
  check_all_used(program, reads);
  tree.nodes = std::move(program.nodes);
  for (std::size_t i = 0; i < program.stores.size(); ++i) {
    if (i < stores_.size()) {
      tree.stores.push_back(program.stores[i]);
    } else {
      tree.stored.push_back(program.stores[i].value);
    }
  }
}

void Symbols::check_outputs() const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const TensorSymbol& symbol = scope_.tensors[i];
    const bool declared_written =
        symbol.writable && (!symbol.readable_first || !symbol.must_declare);
    if (!declared_written || tensors_[i].stored) continue;
    const std::string meant = meant_for(symbol.name);
    throw Error(ErrorCode::invalid_formula,
                "formula: tensor " + quoted(symbol.name) +
                    " is declared as an output but never assigned" +
                    (meant.empty() ? "; assign it or declare it \"in\"" : meant),
                formula_.source.where);
  }
  if (stores_.empty()) fail_without_output();
}

std::string Symbols::meant_for(std::string_view name) const {
  std::vector<std::string_view> assigned;
  for (const auto& [temporary, value] : temporaries_) assigned.push_back(temporary);
  const std::string_view nearest = core::nearest_name(name, assigned);
  if (nearest.empty()) return "";
  return "; " + quoted(nearest) + " is assigned, which is no tensor: did you mean " + quoted(name) +
         "?";
}

void Symbols::fail_without_output() const {
  constexpr std::size_t kMostNamed = 8;
  std::string hint, tensors;
  for (std::size_t i = 0; i < scope_.tensors.size(); ++i) {
    if (hint.empty()) hint = meant_for(scope_.tensors[i].name);
    if (i < kMostNamed) tensors += (i == 0 ? "" : ", ") + quoted(scope_.tensors[i].name);
  }
  if (scope_.tensors.size() > kMostNamed) tensors += ", ...";
  if (hint.empty()) {
    hint = temporaries_.empty() ? "; write an output as in 'y = relu(x)'"
                                : "; the tensors are " + tensors;
  }
  throw Error(ErrorCode::invalid_formula, "formula: no tensor is assigned" + hint,
              formula_.source.where);
}

void Symbols::check_all_used(const Program& program, const std::vector<int>& reads) const {
  const auto tensor_of = [&](const Node& load) {
    const auto source = static_cast<std::size_t>(load.source);
    return reads.empty() ? source : static_cast<std::size_t>(reads[source]);
  };
  std::vector<bool> tensors(scope_.tensors.size(), false);
  std::vector<bool> scalars(scope_.scalars.size(), false);
  static constexpr const char* kTensor = "tensor";
  for (const Store& store : program.stores) tensors[static_cast<std::size_t>(store.tensor)] = true;
  for (const Node& node : program.nodes) {
    if (node.op == Op::load) tensors[tensor_of(node)] = true;
    if (node.op == Op::scalar) scalars[static_cast<std::size_t>(node.source)] = true;
  }
  const auto refuse = [&](const char* kind, const std::string& name) {
    const std::string meant = kind == kTensor ? meant_for(name) : std::string();
    throw Error(ErrorCode::invalid_formula,
                "formula: " + std::string(kind) + " " + quoted(name) +
                    " is never used for an output" + (meant.empty() ? "; remove it" : meant),
                formula_.source.where);
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i]) refuse(kTensor, scope_.tensors[i].name);
  }
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    if (!scalars[i]) refuse("scalar", scope_.scalars[i].name);
  }
}

}  // namespace tilejit::expr
