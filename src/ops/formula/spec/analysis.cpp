#include "formula/analysis.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "core/json_pointer.hpp"
#include "core/text.hpp"
#include "formula/product.hpp"
#include "formula/shared_elements.hpp"
#include "formula/steps.hpp"
#include "spec/checks.hpp"
#include "spec/tuning.hpp"

namespace tilejit::formula {
namespace {

using spec::Problems;

/// Checks one descriptor part by part. Parts that a fault makes meaningless are skipped.
class Analyzer {
 public:
  explicit Analyzer(const Fused& op) : op_(op) {}

  /// The analysis of a step, in the space of `shape`.
  Analysis run_step(expr::Program program, const Extents& shape) {
    result_.program = std::move(program);
    align(shape.size());
    const bool multiplies = has_product(result_.program);
    if (multiplies) result_.axes[0] = result_.axes[1] = {};
    result_.shape = shape;
    for (std::size_t t = multiplies ? 2 : 0; t < op_.tensors.size(); ++t) check_meets(t);
    problems_.throw_if_any();
    place_outputs();
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) resolve_access(t);
    problems_.throw_if_any();
    return std::move(result_);
  }

  Analysis run() {
    check_names();
    result_.symbols = spec::symbols_of(op_.tensors, problems_);
    spec::check_symbols(op_.symbols, "remove it", result_.symbols, problems_);
    spec::check_tuning(op_.tuning, problems_);
    if (!op_.tuning.constants.empty()) {
      spec_fault("a formula has no constants; remove them", "/tuning/constants");
    }
    for (const Tensor& tensor : op_.tensors) spec::check_tensor(tensor, problems_);
    problems_.throw_if_any();
    if (expr::has_spaces(op_.formula, scope().functions)) return in_steps();
    std::size_t modes = 0;
    for (const Tensor& tensor : op_.tensors) modes = std::max(modes, rank(tensor.layout));
    align(modes);
    check_axis();
    const std::optional<Error> refused = compile_formula();
    broadcast();
    if (refused) problems_.add(*refused, "/formula");
    problems_.throw_if_any();
    place_outputs();
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) resolve_access(i);
    problems_.throw_if_any();
    return std::move(result_);
  }

 private:
  void spec_fault(std::string message, std::string where) {
    problems_.add(ErrorCode::invalid_spec, std::move(message), std::move(where));
  }

  void check_names() {
    (void)spec::check_identifier(op_.name, "/name", problems_);
    spec::check_tensor_count(op_.tensors.size(), problems_);
    for (const Tensor& tensor : op_.tensors) check_name(tensor.name, "/tensors");
    for (const Scalar& scalar : op_.scalars) check_name(scalar.name, "/scalars");
    for (const Function& function : op_.functions) check_name(function.name, "/functions");
  }

  void check_name(const std::string& name, const std::string& folder) {
    const std::string where = core::pointer_to(folder, name);
    if (!spec::check_identifier(name, where, problems_)) return;
    if (expr::is_reserved(name)) {
      spec_fault("the name '" + name + "' belongs to the formula language; choose another", where);
    } else if (!names_.insert(name).second) {
      spec_fault("the name '" + name +
                     "' is used twice; tensors, scalars and functions share one set of names",
                 where);
    }
  }

  [[nodiscard]] std::size_t space_rank() const { return result_.shape.size(); }
  [[nodiscard]] Dim extent_of(std::size_t tensor, std::size_t i) const {
    return product(mode(op_.tensors[tensor].layout.shape(), i));
  }

  /// The space has as many axes as the tensor with the most modes. All tensors are aligned at the
  /// last axis.
  void align(std::size_t modes) {
    result_.shape.assign(modes, Dim(1));
    for (const Tensor& tensor : op_.tensors) {
      std::vector<int> axes(rank(tensor.layout));
      std::iota(axes.begin(), axes.end(), static_cast<int>(modes - axes.size()));
      result_.axes.push_back(std::move(axes));
    }
  }

  void check_axis() {
    const int modes = static_cast<int>(space_rank());
    std::set<int> seen;
    for (const int axis : op_.axis) {
      const bool inside = axis >= -modes && axis < modes;
      if (!inside) {
        spec_fault("axis " + std::to_string(axis) + " is out of range: the operation has " +
                       std::to_string(modes) + (modes == 1 ? " axis" : " axes"),
                   "/axis");
      } else if (!seen.insert(axis < 0 ? axis + modes : axis).second) {
        spec_fault("axis " + std::to_string(axis) + " is named twice", "/axis");
      }
    }
    if (problems_.empty()) axis_ = op_.axis;
  }

  /// Applies NumPy's rule to top-level modes. Outputs with fewer modes follow later: which axes
  /// they lack depends on their values.
  void broadcast() {
    std::vector<const Tensor*> decided(space_rank(), nullptr);
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      if (is_aligned(t)) broadcast_with(t, decided);
    }
  }

  /// True for inputs, and for outputs with as many modes as the space. Without a program, nothing
  /// is known about tensors that may be outputs.
  [[nodiscard]] bool is_aligned(std::size_t tensor) const {
    if (rank(op_.tensors[tensor].layout) == space_rank()) return true;
    if (!result_.program.stores.empty()) return is_read(tensor);
    return op_.tensors[tensor].access == Access::in || op_.tensors[tensor].access == Access::inout;
  }

  void broadcast_with(std::size_t t, std::vector<const Tensor*>& decided) {
    const Tensor& tensor = op_.tensors[t];
    for (std::size_t i = 0; i < rank(tensor.layout); ++i) {
      const Dim extent = extent_of(t, i);
      const auto axis = static_cast<std::size_t>(result_.axes[t][i]);
      Dim& known = result_.shape[axis];
      if (extent.is(1) || extent == known) continue;
      if (decided[axis] == nullptr) {
        decided[axis] = &tensor;
        known = extent;
        continue;
      }
      spec_fault("mode " + std::to_string(i) + " of '" + tensor.name + "' has extent " +
                     core::shortened(to_string(extent)) + ", but '" + decided[axis]->name +
                     "' has " + core::shortened(to_string(known)) +
                     " there; extents must be equal or 1, aligned at the last mode",
                 core::pointer_to("/tensors", tensor.name));
    }
  }

  /// Finds the axes of outputs that lack some. These outputs decide extents that no other tensor
  /// decides.
  void place_outputs() {
    reduced_.assign(op_.tensors.size(), 0);
    if (space_rank() > expr::kMaxReducedRank) return;  // such a program has no reductions
    std::vector<std::uint32_t> spanned;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) spanned.push_back(axes_spanned(t));
    const auto values = expr::axes_of_values(result_.program, spanned);
    for (const expr::Store& store : result_.program.stores) {
      const auto t = static_cast<std::size_t>(store.tensor);
      reduced_[t] = values[static_cast<std::size_t>(store.value)].reduced;
      if (!is_aligned(t)) place_output(t);
    }
  }

  /// Bit i: the tensor does not repeat along axis i.
  [[nodiscard]] std::uint32_t axes_spanned(std::size_t tensor) const {
    std::uint32_t axes = 0;
    for (std::size_t i = 0; i < result_.axes[tensor].size(); ++i) {
      if (!extent_of(tensor, i).is(1)) axes |= std::uint32_t{1} << result_.axes[tensor][i];
    }
    return axes;
  }

  void place_output(std::size_t t) {
    std::vector<int>& axes = result_.axes[t];
    if (axes.size() + std::popcount(reduced_[t]) == space_rank()) {
      axes.clear();
      for (std::size_t axis = 0; axis < space_rank(); ++axis) {
        if (!is_reduced(t, axis)) axes.push_back(static_cast<int>(axis));
      }
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      Dim& known = result_.shape[static_cast<std::size_t>(axes[i])];
      if (known.is(1)) known = extent_of(t, i);
    }
  }

  /// Whether the output's value was reduced over `axis`.
  [[nodiscard]] bool is_reduced(std::size_t output, std::size_t axis) const {
    return expr::has_axis(reduced_[output], axis);
  }

  /// The analysis of a formula with several spaces.
  Analysis in_steps() {
    expr::Tree tree = expr::compile_tree(op_.formula, scope());
    make_steps(op_, tree, result_);
    return std::move(result_);
  }

  /// An aligned tensor has the extents of the step's space, or 1.
  void check_meets(std::size_t t) {
    if (!is_aligned(t)) return;
    for (std::size_t i = 0; i < result_.axes[t].size(); ++i) {
      const Dim extent = extent_of(t, i);
      const Dim& known = result_.shape[static_cast<std::size_t>(result_.axes[t][i])];
      if (extent.is(1) || extent == known) continue;
      spec_fault("mode " + std::to_string(i) + " of '" + op_.tensors[t].name + "' has extent " +
                     core::shortened(to_string(extent)) + ", but its value has " +
                     core::shortened(to_string(known)) +
                     " there; extents must be equal, aligned at the last mode",
                 core::pointer_to("/tensors", op_.tensors[t].name));
    }
  }

  [[nodiscard]] expr::Scope scope() const {
    expr::Scope scope;
    for (const Tensor& tensor : op_.tensors) {
      scope.tensors.push_back({.name = tensor.name,
                               .dtype = tensor.dtype,
                               .readable_first = tensor.access != Access::out,
                               .writable = tensor.access != Access::in,
                               .must_declare = tensor.access == Access::automatic});
    }
    for (const Scalar& scalar : op_.scalars) scope.scalars.push_back({scalar.name, scalar.dtype});
    for (const Function& f : op_.functions) scope.functions.push_back({f.name, f.args, f.expr});
    return scope;
  }

  /// Compiles the program into the result. Returns the error if that fails.
  std::optional<Error> compile_formula() {
    expr::Scope in_space = scope();
    in_space.rank = static_cast<int>(space_rank());
    in_space.axis = axis_;
    try {
      result_.program = expr::compile_formula(op_.formula, in_space);
    } catch (const Error& error) {
      return error;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_read(std::size_t tensor) const {
    return std::ranges::any_of(result_.program.nodes, [&](const expr::Node& node) {
      return node.op == expr::Op::load && node.source == static_cast<int>(tensor);
    });
  }

  void resolve_access(std::size_t i) {
    const Tensor& tensor = op_.tensors[i];
    const int index = static_cast<int>(i);
    const bool read = is_read(i);
    const bool written = std::ranges::any_of(
        result_.program.stores, [&](const expr::Store& store) { return store.tensor == index; });
    result_.access.push_back(written ? (read ? Access::inout : Access::out) : Access::in);
    if (written) {
      check_output(i);
    } else if (tensor.access == Access::out || tensor.access == Access::inout) {
      spec_fault("'" + tensor.name + "' is declared as an output but the formula never assigns it",
                 core::pointer_to("/tensors", tensor.name) + "/access");
    }
  }

  void check_output(std::size_t t) {
    const Tensor& tensor = op_.tensors[t];
    const std::string where = core::pointer_to("/tensors", tensor.name);
    if (!holds_its_value(t)) {
      const std::string shape = "the output '" + tensor.name + "' has shape " +
                                core::shortened(to_string(tensor.layout.shape()));
      if (reduced_[t] == 0) {
        spec_fault(shape + ", but the operation's broadcast shape is " + text(result_.shape) +
                       "; outputs do not broadcast",
                   where);
      } else {
        spec_fault(shape + ", but its value has shape " + text(value_shape(t)) +
                       "; an output has that shape, or leaves exactly the reduced axes out, or "
                       "repeats the value along them",
                   where);
      }
    }
    if (auto fault = shared_elements(tensor)) spec_fault(*std::move(fault), where);
  }

  /// True if the output's value was reduced over the axes that it lacks and over its modes of
  /// extent 1.
  [[nodiscard]] bool holds_its_value(std::size_t t) const {
    std::vector<bool> spanned(space_rank(), false);
    for (std::size_t i = 0; i < result_.axes[t].size(); ++i) {
      const Dim extent = extent_of(t, i);
      const auto axis = static_cast<std::size_t>(result_.axes[t][i]);
      spanned[axis] = extent == result_.shape[axis];
      if (!spanned[axis] && !extent.is(1)) return false;
    }
    for (std::size_t axis = 0; axis < spanned.size(); ++axis) {
      if (!spanned[axis] && !is_reduced(t, axis)) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<Dim> value_shape(std::size_t t) const {
    std::vector<Dim> shape = result_.shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (is_reduced(t, axis)) shape[axis] = 1;
    }
    return shape;
  }

  static std::string text(const std::vector<Dim>& shape) {
    std::string text = "(";
    for (const Dim& extent : shape) text += (text.size() > 1 ? "," : "") + to_string(extent);
    return core::shortened(text + ")");
  }

  const Fused& op_;
  Problems problems_;
  Analysis result_;
  std::set<std::string> names_;
  std::vector<int> axis_;  ///< the descriptor's, if it is valid
  std::vector<std::uint32_t>
      reduced_;  ///< for each tensor, the axes over which its stored value was reduced
};

}  // namespace

Analysis analyze(const Fused& op) {
  return Analyzer(op).run();
}

Analysis analyze_step(const Fused& op, expr::Program program, const Extents& shape) {
  return Analyzer(op).run_step(std::move(program), shape);
}

bool has_reductions(const expr::Program& program) noexcept {
  return std::ranges::any_of(program.nodes,
                             [](const expr::Node& node) { return expr::is_reduction(node.op); });
}

std::int64_t divisor(const Dim& dim, const std::map<std::string, std::int64_t>& symbols) {
  std::int64_t result = dim.factor();
  for (const std::string& name : dim.symbols()) {
    const auto found = symbols.find(name);
    // If the divisor with this factor is too large for the type, the one without it still divides.
    std::int64_t product = 0;
    if (found != symbols.end() && !__builtin_mul_overflow(result, found->second, &product))
      result = product;
  }
  return result;
}

}  // namespace tilejit::formula
