#include "reference/problem.hpp"

#include <algorithm>
#include <utility>

#include "core/scalar_value.hpp"
#include "formula/product.hpp"
#include "tilejit/error.hpp"

namespace tilejit::reference {
namespace {

[[noreturn]] void invalid_argument(const std::string& what, const std::string& where) {
  throw Error(ErrorCode::invalid_argument, what, where);
}

void check_count(std::size_t got, std::size_t want, const std::string& kind) {
  if (got == want) return;
  invalid_argument("the operation has " + std::to_string(want) + " " + kind + ", but " +
                       std::to_string(got) + " were given; pass one value for each",
                   "/" + kind);
}

void check_counts(const Fused& op, const HostArguments& args) {
  check_count(args.tensors.size(), op.tensors.size(), "tensors");
  check_count(args.scalars.size(), op.scalars.size(), "scalars");
  for (std::size_t i = 0; i < op.scalars.size(); ++i) {
    core::check_scalar(op.scalars[i].name, op.scalars[i].dtype, args.scalars[i]);
  }
}

bool is_needed(Access access, Needs needs) {
  return needs == Needs::all || (needs == Needs::inputs && access != Access::out);
}

[[noreturn]] void refuse_null(const std::string& name) {
  invalid_argument("tensor '" + name + "' is null; pass its host memory", "/tensors/" + name);
}

void check_symbols(const formula::Analysis& analysis, const SymbolValues& values) {
  for (const auto& [name, divisor] : analysis.symbols) {
    const auto found = values.find(name);
    const std::string where = "/symbols/" + name;
    if (found == values.end()) {
      invalid_argument("the symbol '" + name + "' has no value; give it one", where);
    }
    const std::string value = name + "=" + std::to_string(found->second);
    if (found->second < 0) invalid_argument(value + " is negative; sizes start at 0", where);
    if (found->second % divisor != 0) {
      invalid_argument(value + " is not a multiple of " + std::to_string(divisor) +
                           ", as the descriptor promises",
                       where);
    }
  }
}

TensorView make_view(const Tensor& tensor, void* data, const std::vector<int>& axes,
                     const Problem& problem, const SymbolValues& symbols) {
  TensorView view{tensor.name, tensor.dtype, data, {}, axes};
  view.modes.resize(problem.shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ModeLeaves leaves;
    const Layout own = mode(tensor.layout, i);
    for (const Mode& leaf : own.leaves()) {
      leaves.push_back({leaf.extent.evaluate(symbols), leaf.stride.evaluate(symbols)});
    }
    // Does not use the product of extents: in an empty mode it may exceed the type.
    const bool repeats = std::ranges::all_of(leaves, [](const auto& l) { return l.extent == 1; });
    if (!repeats) view.modes[static_cast<std::size_t>(axes[i])] = std::move(leaves);
  }
  return view;
}

ModeLeaves evaluated(const std::vector<Mode>& modes, const SymbolValues& symbols) {
  ModeLeaves leaves;
  for (const Mode& leaf : modes)
    leaves.push_back({leaf.extent.evaluate(symbols), leaf.stride.evaluate(symbols)});
  return leaves;
}

Factor make_factor(const formula::ProductOperand& operand, const SymbolValues& symbols) {
  Factor factor{.tensor = operand.tensor,
                .batch = {},
                .outer = evaluated(operand.outer, symbols),
                .inner = evaluated(operand.inner, symbols)};
  for (const auto& leaves : operand.batch) factor.batch.push_back(evaluated(leaves, symbols));
  return factor;
}

ProductProblem make_product(const formula::Product& product, const SymbolValues& symbols) {
  return {.node = product.node,
          .a = make_factor(product.a, symbols),
          .b = make_factor(product.b, symbols),
          .m = product.m.evaluate(symbols),
          .n = product.n.evaluate(symbols),
          .k = product.k.evaluate(symbols)};
}

void check_size(const std::vector<std::int64_t>& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return;
  std::int64_t total = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(total, extent, &total)) {
      throw Error(ErrorCode::unsupported,
                  "the iteration space has more than 2^63-1 elements; use smaller extents");
    }
  }
}

// In an empty space only a reduction leaves something to read or write.
bool is_untouched(const Problem& problem, const TensorView& view) {
  const bool reduces = formula::has_reductions(problem.program);
  return has_no_elements(view) || (!reduces && count_elements(problem.shape) == 0);
}

void check_tensor(const Problem& problem, std::size_t i, Access access, Needs needs) {
  const TensorView& view = problem.tensors[i];
  if (is_needed(access, needs) && view.data == nullptr && !is_untouched(problem, view))
    refuse_null(view.name);
}

}  // namespace

bool has_no_elements(const TensorView& view) noexcept {
  return std::ranges::any_of(view.modes, [](const ModeLeaves& leaves) {
    return std::ranges::find(leaves, 0, &Leaf::extent) != leaves.end();
  });
}

void check_arguments(const Fused& op, const formula::Analysis& analysis, const HostArguments& args,
                     Needs needs) {
  check_counts(op, args);
  check_symbols(analysis, args.symbols);
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    const auto leaves = op.tensors[i].layout.leaves();
    const bool empty = std::ranges::any_of(
        leaves, [&](const Mode& leaf) { return leaf.extent.evaluate(args.symbols) == 0; });
    if (!empty && is_needed(analysis.access[i], needs) && args.tensors[i] == nullptr)
      refuse_null(op.tensors[i].name);
  }
}

Problem make_problem(const Fused& op, const formula::Analysis& analysis, const HostArguments& args,
                     Needs needs) {
  check_counts(op, args);
  check_symbols(analysis, args.symbols);

  Problem problem{analysis.program, {}, {}, args.scalars, {}};
  for (const Dim& extent : analysis.shape) {
    problem.shape.push_back(extent.evaluate(args.symbols));
  }
  if (problem.shape.empty()) problem.shape.push_back(1);
  check_size(problem.shape);
  if (formula::has_product(analysis.program))
    problem.product = make_product(formula::product_of(op, analysis), args.symbols);
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    problem.tensors.push_back(
        make_view(op.tensors[i], args.tensors[i], analysis.axes[i], problem, args.symbols));
    check_tensor(problem, i, analysis.access[i], needs);
  }
  return problem;
}

}  // namespace tilejit::reference
