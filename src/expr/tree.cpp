#include "expr/tree.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "expr/centred_sums.hpp"
#include "expr/evaluator.hpp"
#include "expr/graph.hpp"
#include "expr/nested_sums.hpp"
#include "expr/parser.hpp"
#include "expr/symbols.hpp"
#include "expr/typer.hpp"
#include "tilejit/error.hpp"

namespace tilejit::expr {
namespace {

bool may_have_spaces(std::string_view text) {
  return text.find('@') != text.npos || text.find(".T") != text.npos;
}

/// Looks for products and transposed tensors, also in the functions that are called.
class SpaceSearch {
 public:
  explicit SpaceSearch(const FunctionTable& functions) : functions_(functions) {}

  bool in(const ParsedText& text) {
    return std::ranges::any_of(text.nodes, [&](const AstNode& node) {
      if (node.kind == AstNode::Kind::transposed) return true;
      if (node.kind == AstNode::Kind::binary) return node.op == Op::matmul;
      if (node.kind != AstNode::Kind::call) return false;
      const auto function = functions_.find(node.text);
      return function && seen_.insert(*function).second && in(functions_.body(*function));
    });
  }

 private:
  const FunctionTable& functions_;
  std::set<std::size_t> seen_;
};

}  // namespace

void fail_at(const Place& place, const std::string& message) {
  fail_at(place.text, place.position, message, place.note);
}

std::uint32_t TreeNotes::axes(AxesNamed named, Place place) {
  tree_.axes.push_back({std::move(named), std::move(place)});
  return static_cast<std::uint32_t>(tree_.axes.size());
}

int TreeNotes::read(const TensorRead& what, Place place) {
  const auto found =
      std::ranges::find(tree_.reads, what, [](const Tree::Read& read) { return read.what; });
  const auto number = static_cast<int>(found - tree_.reads.begin());
  if (found == tree_.reads.end()) tree_.reads.push_back({what, std::move(place)});
  return number;
}

int TreeNotes::product(NodeId a, NodeId b, Place place) {
  const auto found = std::ranges::find(factors_, std::pair(a, b));
  const auto number = static_cast<int>(found - factors_.begin());
  if (found == factors_.end()) {
    factors_.emplace_back(a, b);
    tree_.products.push_back(std::move(place));
  }
  return number;
}

std::uint32_t Tree::axes_of(const Node& node, int rank, const std::vector<int>& by_default) const {
  const Axes& use = axes[node.axes - 1];
  const Scope scope{.rank = rank, .axis = by_default};
  try {
    return AxisTable(scope).mask(use.named);
  } catch (const Fault& fault) {
    fail_at(use.place.text, fault.position.value_or(use.place.position), fault.message,
            use.place.note);
  }
}

std::vector<bool> needed_by(const Tree& tree, const TreeSlice& slice) {
  std::vector<bool> needed(tree.nodes.size(), false);
  const auto need = [&](NodeId id) {
    if (id != kNoNode) needed[static_cast<std::size_t>(id)] = true;
  };
  for (const Store& store : slice.stores) need(store.value);
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    if (!needed[i] || slice.sources[i] >= 0) continue;
    need(slice.instead[i]);
    if (slice.instead[i] != kNoNode || static_cast<NodeId>(i) == slice.product) continue;
    for (const NodeId arg : tree.nodes[i].args) need(arg);
  }
  return needed;
}

Program program_of(const Tree& tree, const TreeSlice& slice) {
  const std::vector<bool> needed = needed_by(tree, slice);
  std::vector<NodeId> ids(tree.nodes.size(), kNoNode);
  const auto id_of = [&](NodeId id) {
    return id == kNoNode ? kNoNode : ids[static_cast<std::size_t>(id)];
  };
  try {
    Graph graph;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      if (!needed[i]) continue;
      if (slice.instead[i] != kNoNode) {
        ids[i] = id_of(slice.instead[i]);
        continue;
      }
      Node node = tree.nodes[i];
      if (slice.sources[i] >= 0) {
        node = {.op = Op::load, .type = node.type, .source = slice.sources[i]};
      } else if (static_cast<NodeId>(i) == slice.product) {
        for (int side = 0; side < 2; ++side) {
          NodeId& arg = node.args[static_cast<std::size_t>(side)];
          const DType type = tree.nodes[static_cast<std::size_t>(arg)].type;
          arg = graph.add({.op = Op::load, .type = type, .source = side});
        }
        node.source = -1;
      } else {
        if (node.axes != 0) node.axes = tree.axes_of(node, slice.rank, slice.axis);
        for (NodeId& arg : node.args) arg = id_of(arg);
      }
      ids[i] = graph.add(node);
    }
    std::vector<Store> stores;
    for (const Store& store : slice.stores) stores.push_back({store.tensor, id_of(store.value)});
    return correct_centred_sums(merge_nested_sums(graph.prune(stores)));
  } catch (const Fault& fault) {
    throw Error(ErrorCode::invalid_formula, "formula: " + fault.message, "/formula");
  }
}

bool has_spaces(std::string_view formula, const std::vector<FunctionText>& functions) {
  const bool may =
      may_have_spaces(formula) || std::ranges::any_of(functions, [](const FunctionText& function) {
        return may_have_spaces(function.expr);
      });
  if (!may) return false;
  const FunctionTable table(functions);
  return SpaceSearch(table).in(parse_statements({formula, "formula", "/formula"}));
}

Tree compile_tree(std::string_view formula, const Scope& scope) {
  Tree tree;
  tree.functions = std::make_shared<const FunctionTable>(scope.functions);
  const FunctionTable& functions = *tree.functions;
  const ParsedText parsed = parse_statements({formula, "formula", "/formula"});
  TreeNotes notes(tree);
  Graph graph;
  Typer typer(graph);
  Symbols symbols(scope, functions, parsed, graph, typer, &notes);
  const AxisTable axes(scope);
  Evaluator evaluator(functions, axes, typer, parsed.source, {}, &notes);
  symbols.evaluate_all(evaluator);
  symbols.finish(tree);
  return tree;
}

}  // namespace tilejit::expr
