#include "figures/value.hpp"

#include <algorithm>
#include <string>

#include "tilejit/error.hpp"

namespace tilejit::figures {

std::optional<std::int64_t> value_of(const Dim& dim, const SymbolValues& symbols) {
  if (dim.is_known()) return dim.value();
  const bool has_all = std::ranges::all_of(
      dim.symbols(), [&](const std::string& name) { return symbols.contains(name); });
  if (!has_all) return std::nullopt;
  try {
    return dim.evaluate(symbols);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace tilejit::figures
