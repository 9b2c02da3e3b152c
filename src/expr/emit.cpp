#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "expr/greatest.hpp"
#include "expr/least.hpp"
#include "expr/program.hpp"
#include "expr/traits.hpp"
#include "tilejit/error.hpp"

namespace tilejit::expr {
namespace {

std::string value_name(NodeId id) {
  return "v" + std::to_string(id);
}

// A float literal of exactly this value: "0x1.8p+1f".
std::string floating_literal(double value, bool is_double) {
  if (std::isnan(value)) return is_double ? "math::nan_f64()" : "math::nan_f32()";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + (is_double ? "math::inf_f64()" : "math::inf_f32()");
  char text[40];
  char* const end =
      std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::hex).ptr;
  return sign + "0x" + std::string(text, end) + (is_double ? "" : "f");
}

std::string integer_literal(std::int64_t value, DType type) {
  switch (type) {
    case b8: return value != 0 ? "true" : "false";
    case u32: return std::to_string(value) + "u";
    case u64: return std::to_string(static_cast<std::uint64_t>(value)) + "ull";
    case i64:
      if (value == INT64_MIN) return "-9223372036854775807ll - 1";
      return std::to_string(value) + "ll";
    default:
      if (value == INT32_MIN) return "-2147483647 - 1";
      return std::to_string(value);
  }
}

class Emitter {
 public:
  explicit Emitter(const Program& program)
      : program_(program),
        outlines_(weight(program) > kInlineWeight),
        uses_(program.nodes.size(), 0),
        is_often_zero_(program.nodes.size()),
        least_(least_values(program)),
        greatest_(greatest_magnitudes(program)) {
    for (std::size_t i = 0; i < program.nodes.size(); ++i)
      is_often_zero_[i] = makes_zeros(program.nodes[i]);
    for (const Node& node : program.nodes) {
      for (const NodeId arg : node.args) {
        if (arg != kNoNode) ++uses_[static_cast<std::size_t>(arg)];
      }
    }
    stored_.resize(program.nodes.size(), 0);
    for (const Store& store : program.stores) ++stored_[static_cast<std::size_t>(store.value)];
  }

  std::int64_t emitted_weight(const Slice& slice) const {
    std::int64_t sum = 0;
    for (const NodeId id : emitted(slice)) sum += outlined(node(id)) ? 1 : weight(node(id));
    return sum;
  }

  std::string functions() const {
    std::set<std::string> definitions;
    for (const Node& n : program_.nodes) {
      if (outlined(n)) definitions.insert(definition(n));
    }
    std::string text;
    for (const std::string& one : definitions) text += one;
    return text;
  }

  /// The function to call for `n`.
  std::string function(const Node& n) const {
    return outlined(n) ? outlined_name(n) : function_of(n);
  }

  std::string body(const Slice& slice) const {
    const std::vector<NodeId> ids = emitted(slice);
    std::string text;
    if (ids.size() > kMostTogether) {
      text = in_parts(ids, slice);
    } else {
      const bool is_long = ids.size() > kMostConst;
      for (const NodeId id : ids) text += (is_long ? "" : "const ") + declaration(id, slice);
    }
    for (const Store& store : slice.stores) {
      const std::string value =
          converts_in_store(store.value) ? unrounded(store.value) : value_name(store.value);
      text += "y" + std::to_string(store.tensor) + " = " + value + ";\n";
    }
    return text;
  }

 private:
  const Node& node(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  DType argument_type(const Node& user, std::size_t i) const { return node(user.args[i]).type; }

  // True for a cast to a narrow float that only a store uses. The store rounds, so the cast need
  // not.
  bool converts_in_store(NodeId id) const {
    const auto i = static_cast<std::size_t>(id);
    return node(id).op == Op::cast && compute_type(node(id).type) == "float" &&
           node(id).type != f32 && uses_[i] == 0 && stored_[i] > 0;
  }

  // The nodes of a slice that become statements.
  std::vector<NodeId> emitted(const Slice& slice) const {
    std::vector<NodeId> ids;
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (slice.nodes[i] && !converts_in_store(id)) ids.push_back(id);
    }
    return ids;
  }

  std::string type_and_name(NodeId id) const {
    return std::string(compute_type(node(id).type)) + " " + value_name(id);
  }
  std::string declaration(NodeId id, const Slice& slice) const {
    const std::string given = slice.given ? slice.given(id) : std::string();
    return type_and_name(id) + " = " + (given.empty() ? expression(id) : given) + ";\n";
  }

  bool is_leaf(NodeId id) const { return node(id).args[0] == kNoNode; }

  // The nodes that the text after the statements reads: results and stored values.
  std::vector<NodeId> read_after(const Slice& slice) const {
    std::vector<NodeId> ids = slice.results;
    for (const Store& store : slice.stores) {
      ids.push_back(converts_in_store(store.value) ? node(store.value).args[0] : store.value);
    }
    return ids;
  }

  // The statements, split into functions that the compiler does not inline. Values that a later
  // function reads are passed in one struct: separate variables would keep the compiler busy.
  // Leaves are declared in each function that reads them.
  std::string in_parts(std::vector<NodeId> ids, const Slice& slice) const {
    std::erase_if(ids, [&](NodeId id) { return is_leaf(id); });
    constexpr std::size_t kOutside = SIZE_MAX;
    std::vector<std::size_t> part_of(program_.nodes.size(), kOutside);
    std::vector<std::vector<NodeId>> parts;
    for (const NodeId id : ids) {
      if (parts.empty() || parts.back().size() == kMostTogether) parts.emplace_back();
      parts.back().push_back(id);
      part_of[static_cast<std::size_t>(id)] = parts.size() - 1;
    }
    const std::vector<NodeId> results = read_after(slice);
    const std::set<NodeId> after(results.begin(), results.end());
    std::set<NodeId> kept;
    const auto keep = [&](const std::set<NodeId>& read, std::size_t part) {
      for (const NodeId id : read) {
        const std::size_t own = part_of[static_cast<std::size_t>(id)];
        if (own != kOutside && own != part) kept.insert(id);
      }
    };
    for (std::size_t part = 0; part < parts.size(); ++part) keep(arguments(parts[part]), part);
    keep(after, parts.size());

    std::string text = "struct Kept {\n";
    for (const NodeId id : kept) text += type_and_name(id) + ";\n";
    text += "} kept;\n";
    // Declarations of the values in `read` that `part` does not compute itself.
    const auto received = [&](const std::set<NodeId>& read, std::size_t part) {
      std::string lines;
      for (const NodeId id : read) {
        if (is_leaf(id) && slice.nodes[static_cast<std::size_t>(id)]) {
          lines += declaration(id, slice);
        } else if (kept.contains(id) && part_of[static_cast<std::size_t>(id)] != part) {
          lines += type_and_name(id) + " = kept." + value_name(id) + ";\n";
        }
      }
      return lines;
    };
    for (std::size_t part = 0; part < parts.size(); ++part) {
      std::string inside = received(arguments(parts[part]), part), ends;
      for (const NodeId id : parts[part]) {
        inside += declaration(id, slice);
        if (kept.contains(id)) ends += "kept." + value_name(id) + " = " + value_name(id) + ";\n";
      }
      const std::string name = "part" + std::to_string(part);
      text += "const auto " + name + " = [&]() __attribute__((noinline)) {\n" + inside + ends;
      text += "};\n" + name + "();\n";
    }
    return text + received(after, parts.size());
  }

  std::set<NodeId> arguments(const std::vector<NodeId>& ids) const {
    std::set<NodeId> found;
    for (const NodeId id : ids) {
      for (const NodeId arg : node(id).args) {
        if (arg != kNoNode) found.insert(arg);
      }
    }
    return found;
  }

  std::string expression(NodeId id) const {
    const Node& n = node(id);
    switch (n.op) {
      case Op::constant: return emit_constant(n.constant, n.type);
      case Op::load: return "t" + std::to_string(n.source);
      case Op::scalar: return "p.s" + std::to_string(n.source);
      case Op::cast: return cast(id);
      case Op::where:
        return value_name(n.args[0]) + " ? " + value_name(n.args[1]) + " : " +
               value_name(n.args[2]);
      case Op::bit_not: return "~" + value_name(n.args[0]);
      case Op::logical_not: return "!" + value_name(n.args[0]);
      case Op::index:
      case Op::extent:
      case Op::matmul: refuse(n);
      default: return computed(n);
    }
  }

  bool outlined(const Node& n) const {
    return outlines_ && weight(n) > 1 && !function_of(n).empty() && !divides_by_whole(n) &&
           !divides_from_one(n) && !divides_zeros(n) && !takes_normal_root(n) &&
           !turns_moderately(n);
  }
  // Whether the node divides single precision by a whole number that is known when the kernel is
  // compiled, or at least is the same in all of it: an extent, or a constant.
  bool divides_by_whole(const Node& n) const {
    if (n.op != Op::div || compute_type(n.type) != "float") return false;
    const Node& divisor = node(n.args[1]);
    if (divisor.op == Op::extent) return true;
    if (divisor.op != Op::constant) return false;
    const double value =
        std::visit([](auto constant) { return static_cast<double>(constant); }, divisor.constant);
    return value >= 1 && value < kMostWhole && value == std::floor(value) &&
           std::exp2(std::ilogb(value)) != value;
  }
  // Whether many values of the node are 0, as those of masks, relu and whole numbers are.
  bool makes_zeros(const Node& n) const {
    const auto often = [&](std::size_t arg) {
      return is_often_zero_[static_cast<std::size_t>(n.args[arg])];
    };
    switch (n.op) {
      case Op::constant: return std::visit([](auto value) { return value == 0; }, n.constant);
      case Op::relu:
      case Op::floor:
      case Op::ceil:
      case Op::round:
      case Op::trunc: return true;
      case Op::cast: return !is_floating(argument_type(n, 0)) || often(0);
      case Op::neg:
      case Op::abs:
      case Op::sqrt:
      case Op::div: return often(0);
      case Op::mul:
      case Op::min:
      case Op::max:
      case Op::clamp: return often(0) || often(1);
      case Op::where: return often(1) || often(2);
      default: return false;
    }
  }
  // Whether the node computes in single precision, and not by an approximation.
  static bool is_exact_single(const Node& n) {
    return compute_type(n.type) == "float" && approximation(n).empty();
  }
  // Whether the node is a division in single precision that would often take a slow path.
  bool divides_zeros(const Node& n) const {
    return n.op == Op::div && is_exact_single(n) &&
           is_often_zero_[static_cast<std::size_t>(n.args[0])];
  }
  // Whether the node divides in single precision by what is 1 at least, as `abs(x) + 1` is.
  bool divides_from_one(const Node& n) const {
    return n.op == Op::div && is_exact_single(n) && node(n.args[1]).op != Op::constant &&
           least_[static_cast<std::size_t>(n.args[1])] >= 1;
  }
  // Whether the node is a root, or one over it, in single precision of what is far above denormal
  // numbers.
  bool takes_normal_root(const Node& n) const {
    return (n.op == Op::sqrt || n.op == Op::rsqrt) && is_exact_single(n) &&
           least_[static_cast<std::size_t>(n.args[0])] >= 0x1p-60;
  }
  // Whether the node is a sine, or the like, in single precision of what is below 2^16, also after
  // rounding.
  bool turns_moderately(const Node& n) const {
    return is_trigonometric(n.op) && is_exact_single(n) &&
           greatest_[static_cast<std::size_t>(n.args[0])] < 0x1.ffep15;
  }
  std::string outlined_name(const Node& n) const {
    return "outlined_" + std::string(to_string(n.op)) + "_" +
           std::string(tilejit::to_string(n.type));
  }
  // The definition of the function shared by all nodes with the operation and type of `n`.
  std::string definition(const Node& n) const {
    const std::string type(compute_type(n.type));
    std::string parameters, arguments;
    for (std::size_t i = 0; i < n.args.size() && n.args[i] != kNoNode; ++i) {
      const std::string name(1, "abc"[i]);
      parameters += (i == 0 ? "" : ", ") + type + " " + name;
      arguments += (i == 0 ? "" : ", ") + name;
    }
    return "__device__ __noinline__ " + type + " " + outlined_name(n) + "(" + parameters +
           ") { return " + function_of(n) + "(" + arguments + "); }\n";
  }

  std::string call(const Node& n) const {
    std::string text = function(n) + "(";
    for (std::size_t i = 0; i < n.args.size() && n.args[i] != kNoNode; ++i) {
      text += (i == 0 ? "" : ", ") + value_name(n.args[i]);
    }
    return text + ")";
  }

  std::string binary(std::string_view symbol, const Node& n) const {
    return value_name(n.args[0]) + " " + std::string(symbol) + " " + value_name(n.args[1]);
  }

  // The function that computes a node; empty for casts and operators of the language.
  std::string function_of(const Node& n) const {
    if (n.args[0] == kNoNode || n.op == Op::cast || n.op == Op::matmul || combines_elements(n.op)) {
      return {};
    }
    if (divides_by_whole(n)) return "math::div_by_whole";
    if (divides_from_one(n)) return "math::div_from_one";
    if (divides_zeros(n)) return "math::div_of_zeros";
    if (takes_normal_root(n))
      return n.op == Op::rsqrt ? "math::rsqrt_of_normal" : "math::root_of_normal";
    if (const auto name = approximation(n); !name.empty()) return std::string(name);
    const std::string device_function = "math::" + std::string(to_string(n.op));
    if (turns_moderately(n)) return device_function + "_of_moderate";
    if (!is_floating(argument_type(n, 0))) {
      // Signed overflow is undefined in C++; the device functions wrap.
      const bool may_overflow = n.op == Op::add || n.op == Op::sub || n.op == Op::mul;
      return may_overflow || traits(n.op).infix.empty() ? device_function : std::string();
    }
    if (n.op == Op::neg || !traits(n.op).infix.empty()) return {};
    if (n.type != f64 && is_trigonometric(n.op)) return device_function;
    const auto function = traits(n.op).builtin;
    return function.empty() ? device_function : std::string(function) + (n.type == f64 ? "" : "f");
  }

  [[noreturn]] static void refuse(const Node& n) {
    throw Error(ErrorCode::unsupported,
                std::string(to_string(n.op)) + " is not the work of one element");
  }

  // The operand of an integer negation in other words: 0 - x, x * -1 or ~x + 1; kNoNode of other
  // nodes. The compiler would see a negation, too, for which it needs the device function.
  NodeId negated(const Node& n) const {
    if (n.args[0] == kNoNode || n.args[1] == kNoNode || is_floating(n.type)) return kNoNode;
    const auto is = [&](NodeId id, std::int64_t value) {
      return node(id).op == Op::constant && node(id).constant == Constant(value);
    };
    const auto [a, b] = std::pair(n.args[0], n.args[1]);
    switch (n.op) {
      case Op::sub: return is(a, 0) ? b : kNoNode;
      case Op::mul: return is(a, -1) ? b : is(b, -1) ? a : kNoNode;
      case Op::add:
        if (node(a).op == Op::bit_not && is(b, 1)) return node(a).args[0];
        if (node(b).op == Op::bit_not && is(a, 1)) return node(b).args[0];
        return kNoNode;
      default: return kNoNode;
    }
  }

  std::string computed(const Node& n) const {
    if (combines_elements(n.op)) refuse(n);
    if (const NodeId x = negated(n); x != kNoNode) return "math::neg(" + value_name(x) + ")";
    if (!function_of(n).empty()) return call(n);
    return n.op == Op::neg ? "-" + value_name(n.args[0]) : binary(traits(n.op).infix, n);
  }

  std::string cast(NodeId id) const {
    const Node& n = node(id);
    const DType from = argument_type(n, 0);
    const std::string value = value_name(n.args[0]);
    const std::string type(compute_type(n.type));
    if (n.type == b8) return value + " != 0";
    if (!is_floating(n.type)) {
      if (is_floating(from)) return "math::truncate<" + type + ">(" + value + ")";
      return "static_cast<" + type + ">(" + value + ")";
    }
    if (n.type == f32 || n.type == f64) {
      return type == compute_type(from) ? value : "static_cast<" + type + ">(" + value + ")";
    }
    // Whole numbers of one byte have no more bits than any 16-bit float.
    const bool exact = !is_floating(from) && size_bytes(from) == 1 && size_bytes(n.type) >= 2;
    if (exact) return "static_cast<" + type + ">(" + value + ")";
    return "round_to<" + std::string(storage_type(n.type)) + ">(" + unrounded(id) + ")";
  }

  // The operand of a cast to a narrow float, as the float that is then rounded. Operands with more
  // bits than a float go through round_odd, so that the result is as if rounded once. Integers that
  // a float cannot represent are beyond the range of f16 and f8 anyway.
  std::string unrounded(NodeId id) const {
    const DType from = argument_type(node(id), 0);
    const DType to = node(id).type;
    const std::string value = value_name(node(id).args[0]);
    if (compute_type(from) == "float") return value;
    const bool exact = size_bytes(from) <= 2 || (from != f64 && to != bf16 && to != tf32);
    return (exact ? "static_cast<float>(" : "math::round_odd(") + value + ")";
  }

  static constexpr std::int64_t kInlineWeight = 4096;
  static constexpr double kMostWhole = 1 << 24;  // all whole numbers below are floats
  // For each const integer, NVRTC checks whether it is a constant expression, through everything
  // that it is made of: a chain of 600 takes a second. Its other work grows with the square of a
  // function's length.
  static constexpr std::size_t kMostConst = 256;
  static constexpr std::size_t kMostTogether = 1024;

  const Program& program_;
  bool outlines_;  // heavy functions are called instead of inlined
  std::vector<int> uses_;
  std::vector<bool> is_often_zero_;
  std::vector<double> least_, greatest_;
  std::vector<int> stored_;
};

}  // namespace

std::string emit_cuda_functions(const Program& program) {
  return Emitter(program).functions();
}

std::int64_t emitted_weight(const Program& program, const Slice& slice) {
  return Emitter(program).emitted_weight(slice);
}

std::string emit_cuda(const Program& program, const Slice& slice) {
  return Emitter(program).body(slice);
}

std::string emit_cuda(const Program& program) {
  return emit_cuda(program, {.nodes = std::vector<bool>(program.nodes.size(), true),
                             .stores = program.stores,
                             .given = {}});
}

std::string emit_function(const Program& program, NodeId id) {
  return Emitter(program).function(program.nodes[static_cast<std::size_t>(id)]);
}

std::string emit_constant(const Constant& value, DType type) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? integer_literal(*integer, type)
                            : floating_literal(std::get<double>(value), type == f64);
}

std::string emit_combination(const Node& node, const std::string& a, const std::string& b) {
  const bool floating = is_floating(node.type);
  const auto call = [&](const std::string& function) {
    return function + "(" + a + ", " + b + ")";
  };
  const std::string width = node.type == f64 ? "" : "f";
  switch (node.op) {
    case Op::reduce_sum:
    case Op::scan_sum: return floating ? a + " + " + b : call("math::add");
    case Op::reduce_prod:
    case Op::scan_prod: return floating ? a + " * " + b : call("math::mul");
    case Op::reduce_min:
    case Op::scan_min: return call(floating ? "fmin" + width : "math::min");
    case Op::reduce_max:
    case Op::scan_max: return call(floating ? "fmax" + width : "math::max");
    case Op::reduce_any: return a + " | " + b;
    default: return a + " & " + b;  // reduce_all
  }
}

}  // namespace tilejit::expr
