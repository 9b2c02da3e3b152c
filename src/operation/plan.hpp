#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "operation/figures.hpp"
#include "operation/launch_plan.hpp"
#include "operation/signature.hpp"
#include "operation/source.hpp"
#include "tilejit/target.hpp"

namespace tilejit::operation {

/// How one operation is done on one target, as its planner decided. Everything after planning asks
/// it: the key, the compiler, loading, binding, figures. Immutable. Const member functions are
/// thread-safe.
class Body {
 public:
  virtual ~Body() = default;

  /// The family of kernels, by its template: "fused_rows".
  [[nodiscard]] virtual std::string_view family() const = 0;
  /// Canonical JSON in one line: what the cubin depends on, besides `generator`.
  [[nodiscard]] virtual std::string json() const = 0;
  /// SHA-256 (hex) of everything that makes `source` of what `json` says. Taken by the build.
  [[nodiscard]] virtual std::string_view generator() const = 0;

  /// Throws Error{unsupported} for more than the compiler is done with in seconds.
  [[nodiscard]] virtual Source source() const = 0;
  /// Of it, what was generated for this plan alone.
  [[nodiscard]] virtual std::string header() const = 0;

  [[nodiscard]] virtual const Signature& signature() const = 0;
  [[nodiscard]] virtual LaunchPlan launch() const = 0;

  /// What plans have in common that the same knobs are likely to suit; pinned knobs do not matter
  /// (tilejit::operation_class).
  [[nodiscard]] virtual std::string tuning_class() const = 0;

  /// Symbols without a value leave figures empty.
  [[nodiscard]] virtual Figures figures(const SymbolValues& symbols) const = 0;
  /// All of its figures, of whatever kind, as one line of JSON.
  [[nodiscard]] virtual std::string figures_json(const SymbolValues& symbols) const = 0;
  /// The plan and its figures for people, several lines.
  [[nodiscard]] virtual std::string text(const SymbolValues& symbols) const = 0;
  [[nodiscard]] virtual Explanation explain(const SymbolValues& symbols,
                                            const std::optional<Compiled>& compiled) const = 0;
};

/// A planned operation. A value; copies share the body.
struct Plan {
  std::string kernel_name;  ///< entry point of its first kernel: "tilejit_add_f16"
  Target target;
  bool light = false;  ///< planned for the least code, to be replaced (CompileEffort::tiered)
  std::shared_ptr<const Body> body;  ///< never null
};

}  // namespace tilejit::operation
