// Let, loops, branches, Print and Assert.
#include <algorithm>

#include "program/compiler.hpp"
#include "program/style.hpp"

namespace tilejit::program {
namespace {

constexpr int kMostStages = 8;
constexpr int kMostUnrolled = 64;
constexpr std::size_t kMostArguments = 16;
constexpr std::size_t kMostPrinted = 1024;  // bytes of a text

std::int64_t known_integer(const Value& value) {
  const auto* const integer = std::get_if<expr::WideInt>(&value.code.literal);
  return integer == nullptr ? 0 : static_cast<std::int64_t>(*integer);
}

DType type_of(const Value& value) {
  return value.code.nodes.back().type;
}

}  // namespace

void Compiler::let(const TileLet& let, Steps& steps) {
  Value value = scope_.scalar_value(let.value, "the value of a Let");
  if (value.code.is_known()) return scope_.make_known(let.name, value.code.literal, place_);
  const int slot = scope_.make_scalar(let.name, type_of(value), place_);
  add(steps, SetScalar{.scalar = slot, .value = std::move(value)});
}

void Compiler::loop(const TileFor& loop, Steps& steps) {
  Loop step;
  step.begin = scope_.integer(loop.begin, "the first number of a loop");
  step.end = scope_.integer(loop.end, "the end of a loop");
  step.step = {.code = {.literal = expr::WideInt{1}}};
  if (loop.step) step.step = scope_.integer(*loop.step, "the step of a loop");
  if (loop.step && step.step.code.is_known() && known_integer(step.step) <= 0) {
    source_.fail_at(loop.step->place().begin, "the step of a loop is positive; count upwards");
  }
  const auto check_range = [&](const std::optional<int>& value, int most, const char* word) {
    if (value && (*value < 1 || *value > most)) {
      fail(word, std::string(word) + " is from 1 to " + std::to_string(most) + ", not " +
                     std::to_string(*value));
    }
  };
  check_range(loop.stages, kMostStages, "stages");
  check_range(loop.unroll, kMostUnrolled, "unroll");
  if (loop.stages && scope_.in_thread > 0) {
    fail("stages", "stages run copies of the whole block ahead; a thread has none");
  }
  const TilePlace place = place_;
  const std::string where = where_;
  scope_.open(place.begin);
  step.scalar = scope_.make_scalar(loop.name, i64, place);
  step.stages = loop.stages.value_or(1);
  step.unroll = loop.unroll.value_or(0);
  const int stages = std::exchange(stages_, loop.stages.value_or(1));
  std::set<std::string> staged = std::exchange(staged_, {});
  step.body = body(loop.body, where + "/body");
  stages_ = stages;
  staged_ = std::move(staged);
  scope_.close();
  place_ = place;
  add(steps, std::move(step));
}

void Compiler::while_loop(const TileWhile& loop, Steps& steps) {
  WhileLoop step;
  step.condition = scope_.condition(loop.condition, "the condition of a loop");
  const TilePlace place = place_;
  if (step.condition.code.is_known() && expr::is_true(step.condition.code.literal)) {
    source_.fail_at(loop.condition.place().begin,
                    "the condition is always true, so the loop never ends; use 'for', or a "
                    "condition that changes");
  }
  const bool varies = std::ranges::any_of(
      step.condition.code.nodes, [](const expr::Node& node) { return node.op == expr::Op::load; });
  if (!varies && !step.condition.code.is_known()) {
    source_.fail_at(
        loop.condition.place().begin,
        "nothing in the condition changes in the loop: scalars keep their values; let it "
        "read a tile of one element");
  }
  const std::string where = where_;
  scope_.open(place.begin);
  step.body = body(loop.body, where + "/body");
  scope_.close();
  place_ = place;
  add(steps, std::move(step));
}

bool Compiler::names_thread(const TileExpression& condition) const {
  const std::string& text = condition.text();
  return find_whole_word(text, "thread_idx", 0) != text.npos ||
         find_whole_word(text, "tid", 0) != text.npos;
}

void Compiler::branch(const TileIf& branch, Steps& steps) {
  Branch step;
  step.per_thread = names_thread(branch.condition);
  const TilePlace place = place_;
  const std::string where = where_;
  scope_.in_thread += step.per_thread ? 1 : 0;
  step.condition = scope_.condition(branch.condition, "the condition of an 'if'");
  // Of a condition that is known, only what is taken has to make sense.
  const bool known = step.condition.code.is_known();
  const bool taken = known && expr::is_true(step.condition.code.literal);
  const auto branch_body = [&](const TileBody& statements, const char* name, bool wanted) {
    if (!wanted) return Steps();
    if (!known) scope_.open(place.begin);
    Steps made = body(statements, where + name);
    if (!known) scope_.close();
    return made;
  };
  step.then = branch_body(branch.then, "/then", !known || taken);
  step.otherwise = branch_body(branch.otherwise, "/else", !known || !taken);
  scope_.in_thread -= step.per_thread ? 1 : 0;
  place_ = place;
  add(steps, std::move(step));
}

/// Adds the text of `tuple` to the step, with a scalar for each extent or stride that is a symbol.
void Compiler::print_tuple(const IntTuple& tuple, PrintText& step) {
  if (tuple.is_leaf()) {
    const std::string text = to_string(tuple);
    if (tuple.leaf().is_known()) {
      step.text += text;
    } else {
      step.text += "{}";
      step.arguments.emplace_back(scope_.scalar_of(text));
    }
    return;
  }
  char before = '(';
  tuple.for_each_mode([&](const IntTuple& mode) {
    step.text += std::exchange(before, ',');
    print_tuple(mode, step);
  });
  step.text += ')';
}

/// Adds a tile, the layout of a tensor that has no tile, or a scalar.
void Compiler::print_argument(const TileExpression& argument, PrintText& step) {
  const std::string& name = argument.text();
  if (scope_.find_tile(name, TileSpace::registers) != nullptr ||
      scope_.find_tile(name, TileSpace::shared) != nullptr) {
    step.text += "{}";
    step.arguments.emplace_back(scope_.read_tile(name, place_, ",").slot);
    return;
  }
  if (const int tensor = scope_.tensor_index(name); tensor >= 0) {
    const Layout& layout = scope_.program().tensors[static_cast<std::size_t>(tensor)].layout;
    print_tuple(layout.shape(), step);
    step.text += ':';
    return print_tuple(layout.stride(), step);
  }
  step.text += "{}";
  ++scope_.in_thread;
  step.arguments.emplace_back(scope_.scalar_value(argument, "a value to print"));
  --scope_.in_thread;
  const expr::Expression& code = std::get<Value>(step.arguments.back()).code;
  const bool thread = std::ranges::any_of(code.nodes, [](const expr::Node& node) {
    return node.op == expr::Op::scalar && node.source >= kThreadIdx && node.source < kBuiltins;
  });
  if (thread && scope_.in_thread == 0) {
    source_.fail_at(argument.place().begin,
                    "which thread? Put the Print in an 'if' that names it: 'if tid == 0'");
  }
}

void Compiler::print(const TilePrint& print, Steps& steps) {
  prints_ = true;
  std::vector<std::size_t> places;
  for (std::size_t at = print.text.find("{}"); at != print.text.npos;
       at = print.text.find("{}", at + 2)) {
    places.push_back(at);
  }
  if (places.size() != print.arguments.size()) {
    fail("Print", "a value for each {} of the text is needed: " + std::to_string(places.size()) +
                      ", not " + std::to_string(print.arguments.size()));
  }
  PrintText step;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    step.text += print.text.substr(begin, places[i] - begin);
    print_argument(print.arguments[i], step);
    begin = places[i] + 2;
  }
  step.text += print.text.substr(begin);
  if (step.arguments.size() > kMostArguments || step.text.size() > kMostPrinted) {
    fail("Print", "a Print takes at most 1024 bytes of text and 16 values; use several");
  }
  add(steps, std::move(step));
}

void Compiler::assertion(const TileAssert& assertion, Steps& steps) {
  if (assertion.message.size() > kMostPrinted) fail("Assert", "a message has at most 1024 bytes");
  Check step{.condition = scope_.condition(assertion.condition, "the condition of an Assert"),
             .message = assertion.message};
  if (step.condition.code.is_known()) {
    if (expr::is_true(step.condition.code.literal)) return;
    source_.fail_at(assertion.condition.place().begin,
                    "the assertion never holds" +
                        (assertion.message.empty() ? std::string() : ": " + assertion.message));
  }
  add(steps, std::move(step));
}

}  // namespace tilejit::program
