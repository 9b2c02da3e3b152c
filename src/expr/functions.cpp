#include "expr/functions.hpp"

#include <algorithm>
#include <string>

#include "core/text.hpp"
#include "expr/names.hpp"
#include "expr/parser.hpp"
#include "tilejit/error.hpp"

namespace tilejit::expr {
namespace {

[[noreturn]] void fail(const std::string& message, const std::string& where) {
  throw Error(ErrorCode::invalid_formula, message, where);
}

std::string counted(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " argument" : " arguments");
}

std::string given(std::size_t count) {
  return ", not " + std::to_string(count);
}

void check_name(std::string_view name, const std::string& what, const std::string& where) {
  if (!core::is_identifier(name)) {
    fail(what + " " + quoted(name) + " is not a name: use letters, digits and '_', at most 64",
         where);
  }
  if (is_reserved(name))
    fail(what + " " + quoted(name) + " is a word of the language; rename it", where);
}

std::size_t positional_arguments(const ParsedText& text, const AstNode& call) {
  return call.count - (keywords_given(text, call).init ? 1 : 0);
}

void check_reduction(const Reduction& reduction, const ParsedText& text, const AstNode& call) {
  const std::string name = quoted(call.text);
  const std::size_t count = positional_arguments(text, call);
  if (count != 1) {
    const bool also_elementwise = find_builtin(call.text) != nullptr;
    const std::string wanted = !also_elementwise ? "1 argument"
                               : count == 0      ? "1 or more arguments"
                                                 : "1 argument beside axis= and init=";
    fail_at(text.source, call.position, name + " takes " + wanted + given(count));
  }
  const Keywords keywords = keywords_given(text, call);
  if (keywords.init && !reduction.takes_init) {
    fail_at(text.source, *keywords.init, name + " takes no init=");
  }
}

// Depth-first search for a cycle of function calls.
class CycleSearch {
 public:
  CycleSearch(const FunctionTable& table, const std::vector<FunctionText>& functions)
      : table_(table), functions_(functions), done_(functions.size(), false) {}

  void visit(std::size_t function) {
    if (done_[function]) return;
    check_path(function);
    path_.push_back(function);
    const ParsedText& body = table_.body(function);
    for (const AstNode& node : body.nodes) {
      if (node.kind != AstNode::Kind::call) continue;
      if (const auto callee = table_.find(node.text)) visit(*callee);
    }
    path_.pop_back();
    done_[function] = true;
  }

 private:
  void check_path(std::size_t function) const {
    const std::string& where = table_.body(function).source.where;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      if (path_[i] != function) continue;
      std::string cycle;
      for (std::size_t j = i; j < path_.size() && j < i + 8; ++j)
        cycle += functions_[path_[j]].name + " -> ";
      if (path_.size() > i + 8) cycle += "... -> ";
      fail("functions call themselves: " + cycle + functions_[function].name +
               "; recursion is not possible",
           where);
    }
    if (path_.size() == kMaxCallDepth) {
      fail("functions call each other more than " + std::to_string(kMaxCallDepth) + " levels deep",
           where);
    }
  }

  const FunctionTable& table_;
  const std::vector<FunctionText>& functions_;
  std::vector<bool> done_;
  std::vector<std::size_t> path_;
};

}  // namespace

Keywords keywords_given(const ParsedText& text, const AstNode& call) {
  return call.keywords == kNoKeywords ? Keywords() : text.keywords[call.keywords];
}

const Reduction* reduction_called(const ParsedText& text, const AstNode& call) {
  const bool elementwise = find_builtin(call.text) != nullptr && call.keywords == kNoKeywords &&
                           positional_arguments(text, call) > 1;
  return elementwise ? nullptr : find_reduction(call.text);
}

FunctionTable::FunctionTable(const std::vector<FunctionText>& functions) : functions_(functions) {
  for (const FunctionText& text : prelude()) {
    if (!std::ranges::count(functions, text.name, &FunctionText::name)) functions_.push_back(text);
  }
  for (std::size_t i = 0; i < functions_.size(); ++i) declare(i);
  for (std::size_t i = 0; i < functions_.size(); ++i) check_body(i);
  CycleSearch search(*this, functions_);
  for (std::size_t i = 0; i < functions_.size(); ++i) search.visit(i);
}

void FunctionTable::declare(std::size_t function) {
  const FunctionText& text = functions_[function];
  check_name(text.name, "function", "/functions");
  const std::string folder = "/functions/" + text.name;
  if (!indices_.emplace(text.name, function).second) {
    fail("function " + quoted(text.name) + " is defined twice; rename one", folder);
  }
  std::map<std::string_view, std::size_t> arguments;
  for (const std::string& name : text.args) {
    check_name(name, "argument", folder + "/args");
    if (!arguments.emplace(name, arguments.size()).second) {
      fail("argument " + quoted(name) + " of function " + text.name + " appears twice; rename one",
           folder + "/args");
    }
  }
  arguments_.push_back(std::move(arguments));
  bodies_.push_back(parse_expression({text.expr, "function " + text.name, folder + "/expr"}));
}

const Builtin* FunctionTable::builtin(std::string_view name) const {
  return find(name) ? nullptr : find_builtin(name);
}

std::optional<std::size_t> FunctionTable::find(std::string_view name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> FunctionTable::argument(std::size_t function,
                                                   std::string_view name) const {
  const auto found = arguments_[function].find(name);
  return found == arguments_[function].end() ? std::nullopt : std::optional(found->second);
}

void FunctionTable::check_body(std::size_t function) const {
  const ParsedText& body = bodies_[function];
  for (const AstNode& node : body.nodes) {
    if (node.kind == AstNode::Kind::call) check_call(body, node);
    if (node.kind == AstNode::Kind::transposed) {
      fail_at(
          body.source, node.position,
          "'.T' swaps the modes of a tensor, and the arguments of a function are values: pass " +
              quoted(std::string(node.text) + ".T") + " to the function");
    }
    if (node.kind != AstNode::Kind::name || argument(function, node.text)) continue;
    std::vector<std::string_view> known(functions_[function].args.begin(),
                                        functions_[function].args.end());
    fail_at(body.source, node.position,
            "unknown name " + quoted(node.text) + "; a function sees its arguments only" +
                suggestion(node.text, known));
  }
}

void FunctionTable::check_call(const ParsedText& text, const AstNode& call) const {
  if (const Reduction* reduction = reduction_called(text, call)) {
    return check_reduction(*reduction, text, call);
  }
  if (find_scan(call.text) != nullptr) {
    if (call.count == 1) return;
    fail_at(text.source, call.position,
            quoted(call.text) + " takes " + counted(1) + given(call.count));
  }
  const Builtin* meant = builtin(call.text);
  if (meant == nullptr) return check_function(text.source, call);
  const auto count = static_cast<int>(call.count);
  const bool too_many = meant->max_args != kAnyNumber && count > meant->max_args;
  if (count < meant->min_args || too_many) {
    fail_at(text.source, call.position,
            quoted(call.text) + " takes " + expected_arguments(*meant) + given(call.count));
  }
}

void FunctionTable::check_function(const SourceText& text, const AstNode& call) const {
  const std::string name = quoted(call.text);
  const auto function = find(call.text);
  if (!function) {
    std::vector<std::string_view> known;
    for (const auto& [known_name, index] : indices_) known.push_back(known_name);
    fail_at(text, call.position, "unknown function " + name + suggestion(call.text, known));
  }
  const std::size_t wanted = functions_[*function].args.size();
  if (call.count != wanted) {
    fail_at(text, call.position, name + " takes " + counted(wanted) + given(call.count));
  }
}

}  // namespace tilejit::expr
