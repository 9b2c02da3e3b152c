#include "support/axes_case.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "render/render.hpp"
#include "tilejit/error.hpp"

namespace tilejit::test {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kMaxStatements = 8;
constexpr std::int64_t kSymbolValue = 5;

/// dtypes that can be combined without casts.
const std::vector<std::vector<DType>> kAxesFamilies = {
    {f32}, {f16, f32, f64}, {bf16}, {i8, i32, i64}, {u8, u64}, {b8, i32, f32}, {f64, u8, b8}};

class Maker {
 public:
  explicit Maker(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  Fused run() {
    op_.name = "axes";
    make_space();
    family_ = of(kAxesFamilies);
    const std::size_t inputs = 1 + choose(4);
    for (std::size_t i = 0; i < inputs; ++i) add_input("x" + std::to_string(i));
    if (choose(4) == 0) add_scalar();
    if (choose(4) == 0) op_.axis = {static_cast<int>(choose(shape_.size()))};
    const std::size_t statements = 1 + choose(kMaxStatements);
    for (std::size_t i = 0; i + 1 < statements; ++i) add_statement(std::to_string(i));
    add_last();
    if (choose(16) == 0) op_.tuning.atomics = choose(2) == 0;
    if (choose(32) == 0) op_.tuning.vector = 1 << choose(5);
    if (choose(32) == 0) op_.tuning.threads = 32 << choose(6);
    return std::move(op_);
  }

 private:
  /// A number below `count`; 0 after the last byte.
  std::size_t choose(std::size_t count) {
    if (at_ == bytes_.size()) return 0;
    return bytes_[at_++] % count;
  }
  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[choose(values.size())];
  }

  void make_space() {
    static const std::vector<Dim> kExtents = {4, 5,  "S", 1,    8,   3,    2,      37,
                                              0, 64, "S", 1000, 128, 4097, 100000, 6};
    const std::size_t rank = 1 + choose(4);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const Dim& extent = of(kExtents);
      shape_.push_back(extent.is_known() ? extent : Dim("S" + std::to_string(choose(3))));
    }
  }

  /// An input along the last axes, some of them with extent 1, in any order.
  void add_input(const std::string& name) {
    const std::size_t first = choose(4) == 0 ? choose(shape_.size()) : 0;
    std::vector<Dim> shape(shape_.begin() + static_cast<std::ptrdiff_t>(first), shape_.end());
    for (Dim& extent : shape) {
      if (choose(4) == 0) extent = 1;
    }
    add_tensor(name, shape);
  }

  void add_tensor(const std::string& name, const std::vector<Dim>& shape) {
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (choose(3) == 0) std::rotate(order.begin(), order.begin() + 1, order.end());
    std::vector<IntTuple> extents(shape.begin(), shape.end()), strides(shape.size(), IntTuple(0));
    Dim stride = 1;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      const Dim& extent = shape[*axis];
      strides[*axis] = stride;
      if (const auto half = Dim::divide(extent, 2); half && !extent.is(0) && choose(6) == 0) {
        extents[*axis] = IntTuple::tuple(std::vector<IntTuple>{2, *half});
        strides[*axis] = IntTuple::tuple(std::vector<IntTuple>{stride * *half, stride});
      }
      if (!extent.is(0)) stride = stride * extent;
    }
    op_.tensors.push_back({.name = name,
                           .dtype = of(family_),
                           .layout = {IntTuple::tuple(extents), IntTuple::tuple(strides)}});
    if (name.front() == 'x') values_.push_back(name);
  }

  void add_scalar() {
    op_.scalars.push_back({.name = "s", .dtype = of(family_)});
    values_.emplace_back("s");
  }

  /// A temporary, or an output of the whole space, whose value later statements read.
  void add_statement(const std::string& number) {
    const std::string value = expression(3);
    const bool output = choose(4) == 0;
    const std::string name = (output ? "y" : "t") + number;
    if (output) add_tensor(name, shape_);
    op_.formula += name + " = " + value + "\n";
    values_.push_back(name);
  }

  /// Uses everything that is still unused, so that each input is read.
  void add_last() {
    std::string value = expression(2);
    for (const std::string& name : values_) {
      if (name.front() != 'y') value += " + " + name;
    }
    add_tensor("z", shape_);
    op_.formula += "z = " + value;
  }

  std::string axis() {
    const auto rank = static_cast<int>(shape_.size());
    const auto number = static_cast<int>(choose(shape_.size()));
    return std::to_string(choose(4) == 0 ? number - rank : number);
  }

  /// "axis=(0, 2)" with different axes; empty: the default axis of the operation.
  std::string axes() {
    const std::size_t set = choose(std::size_t{1} << shape_.size());
    std::string text;
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      if ((set >> i & 1) != 0) text += (text.empty() ? "" : ", ") + std::to_string(i);
    }
    return text.empty() ? "" : ", axis=(" + text + ",)";
  }

  std::string leaf() {
    if (choose(8) != 0) return of(values_);
    const std::string number = "(" + std::to_string(choose(9)) + " + " + of(values_) + ")";
    const Texts others = {number, "i64(1)", "iota(" + axis() + ")", "f32(extent(" + axis() + "))"};
    return of(others);
  }

  std::string reduction(int depth) {
    static const Texts kNames = {"sum", "max", "min", "any", "all", "argmax", "argmin", "prod"};
    const std::string name = of(kNames);
    return name + "(" + expression(depth) + axes() + ")";
  }

  std::string scan(int depth) {
    static const Texts kNames = {"cumsum", "cummax", "cummin", "cumprod"};
    static const Texts kOrders = {"", "", ", reverse=true", ", exclusive=true"};
    const std::string name = of(kNames);
    const std::string value = expression(depth);
    const std::string along = axis();
    return name + "(" + value + ", axis=" + along + of(kOrders) + ")";
  }

  std::string expression(int depth) {
    static const Texts kBinary = {" + ", " - ", " * ", " < ", " == ", " and ", " % "};
    static const Texts kUnary = {"abs(", "-(", "not (", "f32(", "bool(", "relu(", "exp("};
    if (depth == 0) return leaf();
    switch (choose(6)) {
      case 0: return leaf();
      case 1:
      case 2: return reduction(depth - 1);
      case 3: return scan(depth - 1);
      case 4: {
        const std::string function = of(kUnary);
        return function + expression(depth - 1) + ")";
      }
      default: {
        const std::string left = expression(depth - 1);
        const std::string infix = of(kBinary);
        return "(" + left + infix + expression(depth - 1) + ")";
      }
    }
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  Fused op_;
  std::vector<Dim> shape_;
  std::vector<DType> family_;
  Texts values_;  // values that expressions may name
};

/// The index of the element farthest from the first.
std::int64_t last_index(const plan::Operand& operand, const SymbolValues& symbols) {
  std::int64_t index = 0;
  for (const plan::OperandMode& leaves : operand.modes) {
    for (const Mode& leaf : leaves) {
      index += (leaf.extent.evaluate(symbols) - 1) * leaf.stride.evaluate(symbols);
    }
  }
  return index;
}

void check_temporaries(const plan::Plan& plan, const SymbolValues& symbols) {
  const auto* const several = std::get_if<plan::Several>(&plan.family);
  if (several == nullptr) return;
  std::vector<bool> known(several->temporaries.size(), false);
  for (const plan::Plan& part : several->parts) {
    const bool empty = std::ranges::any_of(part.extents, [](const Dim& d) { return d.is(0); });
    for (const plan::Operand& operand : part.operands) {
      const auto number =
          static_cast<std::size_t>(part.tensors.at(static_cast<std::size_t>(operand.tensor)));
      if (number < plan.operands.size()) continue;
      const std::size_t i = number - plan.operands.size();
      if (operand.read && !known.at(i)) {
        throw std::logic_error("a temporary is read before it is written");
      }
      known.at(i) = true;
      const std::int64_t elements = several->temporaries[i].elements.evaluate(symbols);
      if (!empty && last_index(operand, symbols) >= elements) {
        throw std::logic_error("a part reaches beyond the end of a temporary");
      }
    }
  }
}

}  // namespace

Fused axes_case(std::span<const std::uint8_t> bytes) {
  return Maker(bytes).run();
}

bool check_plans(const Fused& op) {
  try {
    const formula::Analysis analysis = formula::analyze(op);
    SymbolValues symbols;
    for (const auto& [name, divisor] : analysis.symbols) symbols[name] = kSymbolValue * divisor;
    for (const char* target : {"sm_80", "sm_90a", "sm_120a"}) {
      const plan::Plan plan = plan::make_plan(op, analysis, parse_target(target));
      check_temporaries(plan, symbols);
      (void)render::render_header(plan);
      const auto light = plan::make_light_plan(op, analysis, plan);
      if (light) (void)render::render_header(*light);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tilejit::test
