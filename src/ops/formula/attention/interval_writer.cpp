#include "attention/interval_writer.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tilejit::render {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;

struct Named {
  Op op;
  std::string_view function;
};
constexpr std::array<Named, 9> kOfIntegers = {{{Op::neg, "interval_neg"},
                                               {Op::add, "interval_add"},
                                               {Op::sub, "interval_sub"},
                                               {Op::mul, "interval_mul"},
                                               {Op::floor_div, "interval_floor_div"},
                                               {Op::mod, "interval_mod"},
                                               {Op::min, "interval_min"},
                                               {Op::max, "interval_max"},
                                               {Op::abs, "interval_abs"}}};
constexpr std::array<Named, 6> kComparisons = {{{Op::lt, "truth_lt"},
                                                {Op::le, "truth_le"},
                                                {Op::eq, "truth_eq"},
                                                {Op::ne, "truth_ne"},
                                                {Op::ge, "truth_ge"},
                                                {Op::gt, "truth_gt"}}};
constexpr std::array<Named, 3> kOfConditions = {
    {{Op::logical_not, "truth_not"}, {Op::logical_and, "truth_and"}, {Op::logical_or, "truth_or"}}};

template <std::size_t kCount>
std::string_view function_of(const std::array<Named, kCount>& table, Op op) {
  for (const Named& named : table) {
    if (named.op == op) return named.function;
  }
  return {};
}

class IntervalWriter {
 public:
  IntervalWriter(const expr::Program& program, const IntervalLeaf& leaf)
      : program_(program), leaf_(leaf) {}

  std::string write(NodeId root) const {
    std::vector<bool> needed(program_.nodes.size());
    needed[index(root)] = true;
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (!needed[i]) continue;
      for (const NodeId arg : program_.nodes[i].args) {
        if (arg != kNoNode) needed[index(arg)] = true;
      }
    }
    std::string text;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const Node& node = program_.nodes[i];
      if (!needed[i]) continue;
      if (node.type == b8) {
        text += fmt::format("    const Truth i{} = {};\n", i, condition(node));
      } else if (is_counted(node.type)) {
        text += fmt::format("    const Interval i{} = {};\n", i, integer(node));
      }
    }
    return text;
  }

 private:
  [[nodiscard]] static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }
  /// Types whose intervals are computed.
  [[nodiscard]] static bool is_counted(DType type) { return type == i64 || type == i32; }
  [[nodiscard]] DType type_of(NodeId id) const { return program_.nodes[index(id)].type; }

  [[nodiscard]] static std::string call(std::string_view function, const Node& node) {
    std::string arguments;
    for (const NodeId arg : node.args) {
      if (arg != kNoNode) arguments += fmt::format("{}i{}", arguments.empty() ? "" : ", ", arg);
    }
    return fmt::format("{}({})", function, arguments);
  }

  [[nodiscard]] std::string integer(const Node& node) const {
    const std::string text = unbounded_integer(node);
    return node.type == i32 ? fmt::format("interval_i32({})", text) : text;
  }

  [[nodiscard]] std::string unbounded_integer(const Node& node) const {
    if (const std::string_view function = function_of(kOfIntegers, node.op); !function.empty())
      return call(function, node);
    switch (node.op) {
      case Op::constant:
        return fmt::format("interval({}ll)", std::get<std::int64_t>(node.constant));
      case Op::scalar: return fmt::format("interval(i64(p.s{}))", node.source);
      case Op::load:
      case Op::index:
      case Op::extent: return leaf_(node);

      case Op::where: return call("interval_where", node);
      case Op::cast:
        return is_counted(type_of(node.args[0])) ? fmt::format("i{}", node.args[0]) : "Interval{}";
      default: return "Interval{}";
    }
  }

  [[nodiscard]] std::string condition(const Node& node) const {
    if (const std::string_view function = function_of(kOfConditions, node.op); !function.empty())
      return call(function, node);
    const std::string_view function = function_of(kComparisons, node.op);
    if (!function.empty() && is_counted(type_of(node.args[0]))) return call(function, node);
    if (node.op == Op::constant)
      return fmt::format("truth({})", std::get<std::int64_t>(node.constant) != 0);
    if (node.op == Op::scalar) return fmt::format("truth(p.s{})", node.source);
    return "Truth{}";
  }

  const expr::Program& program_;
  const IntervalLeaf& leaf_;
};

}  // namespace

std::string interval_text(const expr::Program& program, expr::NodeId id, const IntervalLeaf& leaf) {
  return IntervalWriter(program, leaf).write(id);
}

}  // namespace tilejit::render
