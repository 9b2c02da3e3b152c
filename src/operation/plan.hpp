#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operation/figures.hpp"
#include "operation/launch_plan.hpp"
#include "operation/signature.hpp"
#include "operation/source.hpp"
#include "tilejit/target.hpp"

namespace tilejit::operation {

/// How one operation is done on one target, as its planner decided. Everything after planning uses
/// it: the key, the compiler, loading, binding, figures. Immutable. Const member functions are
/// thread-safe.
class Body {
 public:
  virtual ~Body() = default;

  /// The kernel family, named after its template: "fused_rows".
  [[nodiscard]] virtual std::string_view family() const = 0;
  /// Canonical JSON on one line: what the cubin depends on, besides `generator`.
  [[nodiscard]] virtual std::string json() const = 0;
  /// SHA-256 (hex) of everything that turns `json` into `source`. Computed by the build.
  [[nodiscard]] virtual std::string_view generator() const = 0;

  /// Throws Error{unsupported} for source that would take the compiler more than seconds.
  [[nodiscard]] virtual Source source() const = 0;
  /// Compiler options besides those of all plans. A part of `json`.
  [[nodiscard]] virtual std::vector<std::string> options() const { return {}; }
  /// The part of `source` that was generated for this plan alone.
  [[nodiscard]] virtual std::string header() const = 0;

  [[nodiscard]] virtual const Signature& signature() const = 0;
  [[nodiscard]] virtual LaunchPlan launch() const = 0;

  /// A class of plans that the same knobs are likely to suit. Pinned knobs do not matter
  /// (tilejit::operation_class).
  [[nodiscard]] virtual std::string tuning_class() const = 0;

  /// Figures that need a symbol without a value are empty.
  [[nodiscard]] virtual Figures figures(const SymbolValues& symbols) const = 0;
  /// All figures of the plan as one line of JSON.
  [[nodiscard]] virtual std::string figures_json(const SymbolValues& symbols) const = 0;
  /// The plan and its figures for people, on several lines.
  [[nodiscard]] virtual std::string text(const SymbolValues& symbols) const = 0;
  [[nodiscard]] virtual Explanation explain(const SymbolValues& symbols,
                                            const std::optional<Compiled>& compiled) const = 0;
};

/// A planned operation. A value; copies share the body.
struct Plan {
  std::string kernel_name;  ///< entry point of the first kernel: "tilejit_add_f16"
  Target target;
  bool light = false;  ///< planned for the least code, to be replaced later (CompileEffort::tiered)
  std::shared_ptr<const Body> body;  ///< never null
};

}  // namespace tilejit::operation
