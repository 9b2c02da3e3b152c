#include "launch/fallback.hpp"

#include <algorithm>

#include "operation/descriptor.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

bool same_scalars(const Operation& a, const Operation& b) {
  return std::ranges::equal(a.scalars(), b.scalars(), [](const Scalar& x, const Scalar& y) {
    return x.name == y.name && x.dtype == y.dtype;
  });
}

bool same_nesting(const Layout& a, const Layout& b) {
  return congruent(a.shape(), b.shape());
}

bool same_tensors(const Operation& general, const Operation& wanted) {
  return std::ranges::equal(
      general.tensors(), wanted.tensors(), [](const Tensor& g, const Tensor& w) {
        return g.name == w.name && g.dtype == w.dtype && g.access == w.access &&
               g.align <= w.align && same_nesting(g.layout, w.layout);
      });
}

/// Visits the dimensions of both operations in parallel until `see` returns false.
template <typename See>
bool each_dim(const Operation& general, const Operation& wanted, const See& see) {
  for (std::size_t t = 0; t < general.tensors().size(); ++t) {
    const auto g = general.tensors()[t].layout.leaves(), w = wanted.tensors()[t].layout.leaves();
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (!see(g[i].extent, w[i].extent) || !see(g[i].stride, w[i].stride)) return false;
    }
  }
  return true;
}

/// `dim` with the symbols replaced that have a value; nothing for functions other than products.
std::optional<Dim> substituted(const Dim& dim, const SymbolValues& values) {
  if (dim.is_known()) return dim;
  if (!dim.is_product()) return std::nullopt;
  Dim result = dim.factor();
  for (const std::string& symbol : dim.symbols()) {
    const auto value = values.find(symbol);
    result = result * (value == values.end() ? Dim(std::string_view(symbol)) : Dim(value->second));
  }
  return result;
}

std::int64_t divisor_of(const Operation& op, const std::string& symbol) {
  const auto found = std::ranges::find(op.symbols(), symbol, &Symbol::name);
  return found == op.symbols().end() ? 1 : found->divisible_by;
}

/// True if the values fulfil what `general` promises about its symbols.
bool keeps_promises(const Operation& general, const Operation& wanted, const SymbolValues& values) {
  return std::ranges::all_of(general.symbols(), [&](const Symbol& symbol) {
    if (symbol.divisible_by <= 1) return true;
    const auto value = values.find(symbol.name);
    const std::int64_t known =
        value == values.end() ? divisor_of(wanted, symbol.name) : value->second;
    return known % symbol.divisible_by == 0;
  });
}

}  // namespace

std::optional<SymbolValues> admits(const Operation& general, const Operation& wanted) {
  if (!general.descriptor().same_own_parts(wanted.descriptor()) || !same_scalars(general, wanted) ||
      !same_tensors(general, wanted)) {
    return std::nullopt;
  }
  SymbolValues values;
  (void)each_dim(general, wanted, [&](const Dim& g, const Dim& w) {
    const bool alone = g.is_product() && g.symbols().size() == 1 && g.factor() == 1;
    if (alone && w.is_known()) values.emplace(g.symbols().front(), w.value());
    return true;
  });
  try {
    const bool equal = each_dim(general, wanted, [&](const Dim& g, const Dim& w) {
      const auto value = substituted(g, values);
      return value && value->same_value(w);
    });
    if (equal && keeps_promises(general, wanted, values)) return values;
  } catch (const Error&) {
    // A product beyond 63 bits: there is no match.
  }
  return std::nullopt;
}

}  // namespace tilejit::launch
