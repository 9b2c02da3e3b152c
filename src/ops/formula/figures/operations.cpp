#include "figures/operations.hpp"

#include <algorithm>

#include "expr/traits.hpp"
#include "figures/value.hpp"
#include "formula/product.hpp"

namespace tilejit::figures {
namespace {

/// The axes along which a tensor's elements differ.
std::uint32_t varying_axes(const Layout& layout, const std::vector<int>& axes) {
  std::uint32_t varying = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] >= expr::kMaxReducedRank) continue;
    const bool varies = std::ranges::any_of(mode(layout, i).leaves(), [](const Mode& leaf) {
      return !leaf.extent.is(1) && !leaf.stride.is(0);
    });
    if (varies) varying |= std::uint32_t{1} << axes[i];
  }
  return varying;
}

/// Counts operations by the axes along which each value is computed anew.
class Counter {
 public:
  Counter(const std::vector<Tensor>& tensors, const formula::Analysis& analysis,
          const SymbolValues& symbols)
      : analysis_(analysis), symbols_(symbols) {
    std::vector<std::uint32_t> varying;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      varying.push_back(varying_axes(tensors[t].layout, analysis.axes[t]));
    }
    values_ = expr::axes_of_values(analysis.program, varying);
  }

  [[nodiscard]] std::optional<std::int64_t> count() const {
    std::int64_t total = 0;
    for (std::size_t n = 0; n < values_.size(); ++n) {
      const expr::Node& node = analysis_.program.nodes[n];
      if (!expr::traits(node.op).counted) continue;
      const auto elements = elements_of(axes_of(node, n));
      if (!elements || __builtin_add_overflow(total, *elements, &total)) return std::nullopt;
    }
    return total;
  }

 private:
  [[nodiscard]] std::uint32_t axes_of(const expr::Node& node, std::size_t n) const {
    if (!expr::combines_elements(node.op)) return values_[n].varying;
    return values_[static_cast<std::size_t>(node.args[0])].varying | node.axes;
  }

  /// Elements along `axes`. If the space has more axes than a set can hold, none of them can be
  /// reduced, and all elements count.
  [[nodiscard]] std::optional<std::int64_t> elements_of(std::uint32_t axes) const {
    const bool all = analysis_.shape.size() > expr::kMaxReducedRank;
    Product elements;
    for (std::size_t axis = 0; axis < analysis_.shape.size(); ++axis) {
      if (all || expr::has_axis(axes, axis)) {
        elements.times(value_of(analysis_.shape[axis], symbols_));
      }
    }
    return elements.value();
  }

  const formula::Analysis& analysis_;
  const SymbolValues& symbols_;
  std::vector<expr::ValueAxes> values_;
};

/// Operations of one space: those of the formula, and a product and a sum for each place of K.
std::optional<std::int64_t> count_in_space(const std::vector<Tensor>& tensors,
                                           const formula::Analysis& analysis,
                                           const SymbolValues& symbols) {
  auto total = Counter(tensors, analysis, symbols).count();
  if (!total || !formula::has_product(analysis.program)) return total;
  Product products;
  products.times(2);
  for (const Dim& extent : analysis.shape) products.times(value_of(extent, symbols));
  const formula::Product product = formula::product_of({.tensors = tensors}, analysis);
  products.times(value_of(product.k, symbols));
  if (product.second) products.times(2);
  const auto count = products.value();
  if (!count || __builtin_add_overflow(*total, *count, &*total)) return std::nullopt;
  return total;
}

}  // namespace

std::optional<std::int64_t> count_operations(const std::vector<Tensor>& tensors,
                                             const formula::Analysis& analysis,
                                             const SymbolValues& symbols) {
  if (analysis.steps.empty()) return count_in_space(tensors, analysis, symbols);
  std::int64_t total = 0;
  for (const formula::Step& step : analysis.steps) {
    const auto own = count_in_space(step.op.tensors, step.analysis, symbols);
    if (!own || __builtin_add_overflow(total, *own, &total)) return std::nullopt;
  }
  return total;
}

}  // namespace tilejit::figures
