#include "expr/evaluator.hpp"

#include <utility>

#include "expr/names.hpp"
#include "expr/tree.hpp"

namespace tilejit::expr {
namespace {

// Limits the work for formulas whose functions only multiply literals, which makes no nodes.
constexpr std::size_t kMaxSteps = 500'000;

}  // namespace

// The place in the text where the outermost function was called, if `text` is a function.
std::string Evaluator::call_site(const ParsedText& text) const {
  if (calls_.empty() || &text.source == &text_) return {};
  return "  in the call at " + text_.title + " line " +
         std::to_string(line_number(text_, calls_.front()));
}

Value Evaluator::evaluate(const ParsedText& text, AstRange range, const ReadName& read) {
  std::vector<Value> values;
  values.reserve(range.end - range.begin);
  for (AstId id = range.begin; id < range.end; ++id) {
    const AstNode& node = text.nodes[id];
    std::vector<Value> args;
    for (std::uint32_t i = 0; i < node.count; ++i) {
      args.push_back(values[text.operands[node.operands + i] - range.begin]);
    }
    try {
      if (++steps_ > kMaxSteps)
        throw Fault{"the formula is too large after its functions are inlined"};
      values.push_back(apply(text, node, args, read));
    } catch (const Fault& fault) {
      fail_at(text.source, fault.position.value_or(node.position), fault.message, call_site(text));
    }
  }
  return values.back();
}

Value Evaluator::apply(const ParsedText& text, const AstNode& node, const std::vector<Value>& args,
                       const ReadName& read) {
  using Kind = AstNode::Kind;
  switch (node.kind) {
    case Kind::literal: return node.literal;
    case Kind::name: return read({node.text, node.position});
    case Kind::transposed: return read({node.text, node.position, true});
    case Kind::plus: return typer_.plus(args[0]);
    case Kind::unary: return typer_.unary(node.op, args[0]);
    case Kind::binary:
      if (node.op == Op::matmul) return multiplied(text, node, args);
      return typer_.binary(node.op, args[0], args[1]);
    case Kind::cast: return typer_.cast(args[0], node.dtype);
    case Kind::iota:
      return typer_.index(axes_of(text, node, {keywords_given(text, node).axes, node.text}));
    case Kind::extent: return typer_.extent(axes_of(text, node, {keywords_given(text, node).axes}));
    case Kind::call: break;
  }
  return called(text, node, args);
}

Place Evaluator::place_of(const ParsedText& text, const AstNode& node) const {
  return {text.source, node.position, call_site(text)};
}

std::uint32_t Evaluator::axes_of(const ParsedText& text, const AstNode& node,
                                 const AxesNamed& named) const {
  return notes_ != nullptr ? notes_->axes(named, place_of(text, node)) : axes_.mask(named);
}

Value Evaluator::multiplied(const ParsedText& text, const AstNode& node,
                            const std::vector<Value>& args) {
  if (notes_ == nullptr) fault("'@' stands in formulas of fused operations only");
  const int number = notes_->product(args[0].node, args[1].node, place_of(text, node));
  return typer_.matmul(args[0], args[1], number);
}

Value Evaluator::called(const ParsedText& text, const AstNode& node,
                        const std::vector<Value>& args) {
  functions_.check_call(text, node);
  const bool combines = reduction_called(text, node) != nullptr || find_scan(node.text) != nullptr;
  if (combines && !advice_.empty()) fault(advice_);
  if (const Reduction* reduction = reduction_called(text, node)) {
    return reduced(*reduction, text, node, args);
  }
  if (const Scan* scan = find_scan(node.text)) return scanned(*scan, text, node, args[0]);
  if (const Builtin* builtin = functions_.builtin(node.text)) return typer_.call(builtin->op, args);
  return inlined(*functions_.find(node.text), args, node.position);
}

Value Evaluator::reduced(const Reduction& reduction, const ParsedText& text, const AstNode& node,
                         const std::vector<Value>& args) {
  const Keywords given = keywords_given(text, node);
  const std::uint32_t axes = axes_of(text, node, {given.axes});
  if (!given.init) return typer_.reduce(reduction, axes, args[0], {});
  return typer_.reduce(reduction, axes, args[0], args[1]);
}

Value Evaluator::scanned(const Scan& scan, const ParsedText& text, const AstNode& node,
                         const Value& arg) {
  const Keywords given = keywords_given(text, node);
  const ScanOrder order{.axis = axes_of(text, node, {given.axes, scan.name}),
                        .exclusive = given.exclusive.value_or(false),
                        .reverse = given.reverse.value_or(false)};
  return typer_.scan(scan, order, arg);
}

// Equal arguments give equal values, so each call is evaluated once. Without this, functions that
// call each other twice would take exponential time.
Value Evaluator::inlined(std::size_t function, const std::vector<Value>& args,
                         std::size_t position) {
  const auto key = call_key(function, args);
  if (const auto known = inlined_.find(key); known != inlined_.end()) return known->second;
  if (calls_.size() == kMaxCallDepth) {
    throw Fault{"functions call each other more than " + std::to_string(kMaxCallDepth) +
                " levels deep"};
  }
  calls_.push_back(position);
  const ParsedText& body = functions_.body(function);
  const std::size_t axes_before = notes_ != nullptr ? notes_->count_axes() : 0;
  Value value = evaluate(body, body.statements[0].value, [&](const NameRead& name) {
    return args[*functions_.argument(function, name.name)];
  });
  calls_.pop_back();
  // What names axes may stand in another space elsewhere.
  if (notes_ == nullptr || notes_->count_axes() == axes_before) inlined_.emplace(key, value);
  return value;
}

Evaluator::CallKey Evaluator::call_key(std::size_t function, const std::vector<Value>& args) {
  CallKey key = {function};
  for (const Value& arg : args) {
    key.push_back(static_cast<std::uint64_t>(arg.node));
    if (!arg.is_weak()) continue;
    const auto* integer = std::get_if<WideInt>(&arg.weak);
    key.push_back(arg.weak.index());
    key.push_back(integer != nullptr ? static_cast<std::uint64_t>(*integer)
                                     : constant_bits(to_double(arg.weak)));
    key.push_back(integer != nullptr && *integer < 0);
  }
  return key;
}

}  // namespace tilejit::expr
