#include "spec/analysis.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/text.hpp"
#include "spec/overlap.hpp"
#include "spec/problems.hpp"

namespace tilejit::spec {
namespace {

/// Checks one descriptor part by part; what a fault makes meaningless is not looked at.
class Analyzer {
 public:
  explicit Analyzer(const Fused& op) : op_(op) {}

  Analysis run() {
    check_names();
    check_symbols();
    check_tuning();
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) check_tensor(op_.tensors[i]);
    problems_.throw_if_any();
    broadcast();
    compile_formula();
    problems_.throw_if_any();
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) resolve_access(i);
    problems_.throw_if_any();
    return std::move(result_);
  }

 private:
  void spec_fault(std::string message, std::string where) {
    problems_.add(ErrorCode::invalid_spec, std::move(message), std::move(where));
  }

  void check_names() {
    if (!core::is_identifier(op_.name)) {
      spec_fault("the name " + in_quotes(op_.name) +
                     " is not an identifier: letters, digits and '_', at most 64",
                 "/name");
    }
    if (op_.tensors.empty() || op_.tensors.size() > kMaxTensors) {
      spec_fault("an operation has 1 to 64 tensors, found " + std::to_string(op_.tensors.size()),
                 "/tensors");
    }
    for (const Tensor& tensor : op_.tensors) check_name(tensor.name, "/tensors/");
    for (const Scalar& scalar : op_.scalars) check_name(scalar.name, "/scalars/");
    for (const Function& function : op_.functions) check_name(function.name, "/functions/");
  }

  void check_name(const std::string& name, const std::string& folder) {
    if (!core::is_identifier(name)) {
      spec_fault("the name " + in_quotes(name) +
                     " is not an identifier: letters, digits and '_', at most 64",
                 folder + name.substr(0, 64));
    } else if (expr::is_reserved(name)) {
      spec_fault("the name '" + name + "' belongs to the formula language; choose another",
                 folder + name);
    } else if (!names_.insert(name).second) {
      spec_fault("the name '" + name +
                     "' is used twice; tensors, scalars and functions share one set of names",
                 folder + name);
    }
  }

  void check_symbols() {
    for (const Tensor& tensor : op_.tensors) {
      for (const Mode& mode : tensor.layout.leaves()) {
        for (const Dim& dim : {mode.extent, mode.stride}) {
          if (dim.is_product()) continue;
          spec_fault("the layout of tensor '" + tensor.name + "' has the unknown " +
                         to_string(dim) + "; give it a name, for example \"N\"",
                     "/tensors/" + tensor.name + "/layout");
        }
        for (const std::string& symbol : mode.extent.symbols()) result_.symbols.emplace(symbol, 1);
        for (const std::string& symbol : mode.stride.symbols()) result_.symbols.emplace(symbol, 1);
      }
    }
    std::set<std::string> seen;
    for (const Symbol& symbol : op_.symbols) {
      const std::string where = "/symbols/" + symbol.name.substr(0, 64);
      const auto found = result_.symbols.find(symbol.name);
      if (found == result_.symbols.end()) {
        spec_fault("no layout uses the symbol " + in_quotes(symbol.name) + "; remove it", where);
      } else if (!seen.insert(symbol.name).second) {
        spec_fault("the symbol '" + symbol.name + "' is described twice", where);
      } else if (symbol.divisible_by < 1 || symbol.divisible_by > INT32_MAX) {
        spec_fault("divisible_by is 1 to 2147483647, found " + std::to_string(symbol.divisible_by),
                   where);
      } else if (symbol.example &&
                 (*symbol.example < 0 || *symbol.example % symbol.divisible_by != 0)) {
        spec_fault("the example " + std::to_string(*symbol.example) + " is not a multiple of " +
                       std::to_string(symbol.divisible_by) + " from 0 on",
                   where);
      } else {
        found->second = symbol.divisible_by;
      }
    }
  }

  void check_tuning() {
    const auto check = [&](const std::optional<int>& value, bool good, const char* name,
                           const char* allowed) {
      if (value && !good) {
        spec_fault(
            std::string("tuning.") + name + " is " + std::to_string(*value) + "; use " + allowed,
            std::string("/tuning/") + name);
      }
    };
    const int threads = op_.tuning.threads.value_or(32);
    const int vector = op_.tuning.vector.value_or(1);
    const int unroll = op_.tuning.unroll.value_or(1);
    check(op_.tuning.threads, threads >= 32 && threads <= 1024 && threads % 32 == 0, "threads",
          "a multiple of 32 from 32 to 1024");
    check(op_.tuning.vector, vector >= 1 && vector <= 16 && (vector & (vector - 1)) == 0, "vector",
          "1, 2, 4, 8 or 16");
    check(op_.tuning.unroll, unroll >= 1 && unroll <= 16, "unroll", "1 to 16");
    for (const int side : op_.tuning.tile.value_or(std::array{1, 1})) {
      check(side, side >= 1 && side <= kMaxTileSide && (side & (side - 1)) == 0, "tile",
            "powers of two from 1 to 4096");
    }
  }

  void check_tensor(const Tensor& tensor) {
    const std::string where = "/tensors/" + tensor.name;
    const bool power =
        tensor.align >= 1 && tensor.align <= 16 && (tensor.align & (tensor.align - 1)) == 0;
    if (!power || tensor.align < size_bytes(tensor.dtype)) {
      spec_fault("align is " + std::to_string(tensor.align) +
                     " bytes; use 1, 2, 4, 8 or 16, at least the element's " +
                     std::to_string(size_bytes(tensor.dtype)),
                 where + "/align");
    }
    try {
      (void)product(tensor.layout.shape());
      if (std::ranges::all_of(tensor.layout.leaves(), [](const Mode& m) {
            return m.extent.is_known() && m.stride.is_known();
          })) {
        check_bytes(tensor, where);
      }
    } catch (const Error& error) {
      problems_.add(error, where + "/layout");
    }
  }

  void check_bytes(const Tensor& tensor, const std::string& where) {
    if (cosize(tensor.layout) > INT64_MAX / size_bytes(tensor.dtype)) {
      problems_.add(ErrorCode::unsupported, "the tensor spans more than 2^63-1 bytes",
                    where + "/layout");
    }
  }

  /// NumPy's rule on top-level modes, aligned at the last.
  void broadcast() {
    std::size_t modes = 0;
    for (const Tensor& tensor : op_.tensors) modes = std::max(modes, rank(tensor.layout));
    result_.shape.assign(modes, Dim(1));
    std::vector<const Tensor*> decided(modes, nullptr);
    for (const Tensor& tensor : op_.tensors) {
      const std::size_t skipped = modes - rank(tensor.layout);
      for (std::size_t i = skipped; i < modes; ++i) {
        const Dim extent = product(mode(tensor.layout.shape(), i - skipped));
        if (extent.is(1) || extent == result_.shape[i]) continue;
        if (decided[i] == nullptr) {
          decided[i] = &tensor;
          result_.shape[i] = extent;
          continue;
        }
        spec_fault("mode " + std::to_string(i - skipped) + " of '" + tensor.name + "' has extent " +
                       core::shortened(to_string(extent)) + ", but '" + decided[i]->name +
                       "' has " + core::shortened(to_string(result_.shape[i])) +
                       " there; extents must be equal or 1, aligned at the last mode",
                   "/tensors/" + tensor.name);
      }
    }
  }

  void compile_formula() {
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
    try {
      result_.program = expr::compile_formula(op_.formula, scope);
    } catch (const Error& error) {
      problems_.add(error, "/formula");
    }
  }

  void resolve_access(std::size_t i) {
    const Tensor& tensor = op_.tensors[i];
    const int index = static_cast<int>(i);
    const bool read = std::ranges::any_of(result_.program.nodes, [&](const expr::Node& node) {
      return node.op == expr::Op::load && node.source == index;
    });
    const bool written = std::ranges::any_of(
        result_.program.stores, [&](const expr::Store& store) { return store.tensor == index; });
    result_.access.push_back(written ? (read ? Access::inout : Access::out) : Access::in);
    if (written) {
      check_output(tensor);
    } else if (tensor.access == Access::out || tensor.access == Access::inout) {
      spec_fault("'" + tensor.name + "' is declared as an output but the formula never assigns it",
                 "/tensors/" + tensor.name + "/access");
    }
  }

  void check_output(const Tensor& tensor) {
    const std::string where = "/tensors/" + tensor.name;
    const std::size_t modes = rank(tensor.layout);
    bool full = modes == result_.shape.size();
    for (std::size_t i = 0; full && i < modes; ++i) {
      full = product(mode(tensor.layout.shape(), i)) == result_.shape[i];
    }
    if (!full) {
      spec_fault("the output '" + tensor.name + "' has shape " +
                     core::shortened(to_string(tensor.layout.shape())) +
                     ", but the operation's broadcast shape is " + shape_text() +
                     "; outputs do not broadcast",
                 where);
    }
    check_distinct(tensor, where);
  }

  /// Two coordinates of an output must not share an element. Checked for modes of known extent and
  /// stride; what symbols stand for is not known here.
  void check_distinct(const Tensor& tensor, const std::string& where) {
    const auto fault = [&](const std::string& before, const std::string& after) {
      spec_fault(before + "the output '" + tensor.name + "' " + after, where);
    };
    std::vector<Mode> modes(tensor.layout.leaves().begin(), tensor.layout.leaves().end());
    if (std::ranges::any_of(modes, [](const Mode& m) { return m.extent.is(0); })) return;
    std::erase_if(modes, [](const Mode& m) { return m.extent.is(1) || !m.stride.is_known(); });
    if (std::ranges::any_of(modes, [](const Mode& m) { return m.stride.is(0); })) {
      return fault("", "has a mode of stride 0: its coordinates would share elements");
    }
    std::erase_if(modes, [](const Mode& m) { return !m.extent.is_known(); });
    std::vector<KnownMode> known;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!collide(modes[i], modes[j])) continue;
        return fault("the modes " + mode_text(modes[j]) + " and " + mode_text(modes[i]) + " of ",
                     "overlap: two coordinates would share an element");
      }
      known.push_back({modes[i].extent.value(), modes[i].stride.value()});
    }
    const Overlap overlap = find_overlap(std::move(known));
    const std::string layout = "the layout " + core::shortened(to_string(tensor.layout)) + " of ";
    if (overlap == Overlap::found) {
      fault(layout, "overlaps itself: two coordinates would share an element");
    } else if (overlap == Overlap::unknown) {
      fault(layout,
            "interleaves its modes in a way that cannot be checked for overlaps; use strides that "
            "exceed the span of the modes of smaller stride");
    }
  }

  /// Whether x * a.stride == y * b.stride for some 0 < x < a.extent, 0 < y < b.extent.
  static bool collide(const Mode& a, const Mode& b) {
    const std::int64_t common = std::gcd(a.stride.value(), b.stride.value());
    return b.stride.value() / common < a.extent.value() &&
           a.stride.value() / common < b.extent.value();
  }

  static std::string mode_text(const Mode& mode) {
    return to_string(mode.extent) + ":" + to_string(mode.stride);
  }

  [[nodiscard]] std::string shape_text() const {
    std::string text = "(";
    for (const Dim& extent : result_.shape)
      text += (text.size() > 1 ? "," : "") + to_string(extent);
    return core::shortened(text + ")");
  }

  const Fused& op_;
  Problems problems_;
  Analysis result_;
  std::set<std::string> names_;
};

}  // namespace

Analysis analyze(const Fused& op) {
  return Analyzer(op).run();
}

std::int64_t divisor(const Dim& dim, const std::map<std::string, std::int64_t>& symbols) {
  std::int64_t result = dim.factor();
  for (const std::string& name : dim.symbols()) {
    const auto found = symbols.find(name);
    // A divisor too large for the type is still a divisor without this factor.
    std::int64_t product = 0;
    if (found != symbols.end() && !__builtin_mul_overflow(result, found->second, &product))
      result = product;
  }
  return result;
}

}  // namespace tilejit::spec

namespace tilejit {

void validate(const Fused& op) {
  (void)spec::analyze(op);
}

}  // namespace tilejit
