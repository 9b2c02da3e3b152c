#include "support/random_case.hpp"

#include <algorithm>
#include <numeric>

#include "tilejit/error.hpp"

namespace tilejit::test {
namespace {

int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}
bool chance(Random& random, int percent) {
  return pick(random, 1, 100) <= percent;
}

template <class T>
const T& pick_of(Random& random, const std::vector<T>& values) {
  return values[static_cast<std::size_t>(pick(random, 0, static_cast<int>(values.size()) - 1))];
}

/// dtypes that can be combined in one formula without a cast.
const std::vector<std::vector<DType>> kFamilies = {
    {f16, f32, f64},
    {bf16, f32, f64},
    {f16},
    {bf16},
    {f32},
    {f32},
    {i8, i16, i32, i64},
    {u8, u16, u32, u64},
    {i32, f32},
    {b8, i32, f32},
    {f8e4m3},
    {f8e5m2},
    {tf32},
};

// For 64-bit dtypes the value is one that a double cannot represent.
Number scalar_of(DType dtype) {
  if (is_floating(dtype)) return 0.75;
  if (dtype == b8) return 1;
  return size_bytes(dtype) == 8 ? 9007199254740993 : 3;
}

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  RandomCase run() {
    make_shape();
    family_ = pick_of(random_, kFamilies);
    const int inputs = pick(random_, 1, 3);
    for (int i = 0; i < inputs; ++i)
      add_tensor("x" + std::to_string(i), pick_of(random_, family_), true);
    if (chance(random_, 30)) {
      const DType dtype = pick_of(random_, family_);
      case_.op.scalars.push_back({.name = "s", .dtype = dtype});
      case_.scalars.push_back(scalar_of(dtype));
    }
    if (chance(random_, 40)) {
      choose_reduced_axes();
    } else if (shape_.size() > 1 && chance(random_, 25)) {
      mixes_ = true;
    } else {
      scans_ = chance(random_, 35);
    }
    make_formula();
    case_.op.name = "random";
    return std::move(case_);
  }

 private:
  void make_shape() {
    const int modes = pick(random_, 1, 4);
    const int limit = modes == 1 ? 5000 : modes == 2 ? 150 : 24;
    for (int m = 0; m < modes; ++m) {
      const int extent = chance(random_, 3)    ? 0
                         : chance(random_, 40) ? 8 * pick(random_, 1, std::max(1, limit / 8))
                                               : pick(random_, 1, limit);
      shape_.push_back(extent);
      symbolic_.push_back(chance(random_, 25));
    }
  }

  Dim extent_of(std::size_t m) {
    if (!symbolic_[m]) return shape_[m];
    const std::string name = "D" + std::to_string(m);
    case_.symbols[name] = shape_[m];
    return Dim(name);
  }

  void add_tensor(const std::string& name, DType dtype, bool may_broadcast) {
    const std::size_t modes = shape_.size();
    std::size_t first =
        may_broadcast && chance(random_, 20)
            ? static_cast<std::size_t>(pick(random_, 0, static_cast<int>(modes) - 1))
            : 0;
    std::vector<Dim> extents, strides(modes - first);
    for (std::size_t m = first; m < modes; ++m) {
      extents.push_back(may_broadcast && chance(random_, 15) ? Dim(1) : extent_of(m));
    }
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::reverse(order);  // row-major unless shuffled
    if (chance(random_, 35)) std::ranges::shuffle(order, random_);
    Dim next = chance(random_, 8) ? 2 : 1;
    for (const std::size_t m : order) {
      strides[m] = next;
      if (!extents[m].is(0)) next = next * extents[m];
      if (chance(random_, 10)) next = next * Dim(2);  // gaps between rows
    }
    case_.op.tensors.push_back(
        {.name = name, .dtype = dtype, .layout = {as_tuple(extents), as_tuple(strides)}});
  }

  static IntTuple as_tuple(const std::vector<Dim>& dims) {
    return IntTuple::tuple(std::vector<IntTuple>(dims.begin(), dims.end()));
  }

  void choose_reduced_axes() {
    if (chance(random_, 30)) case_.op.tuning.atomics = true;
    const int modes = static_cast<int>(shape_.size());
    for (int m = 0; m < modes; ++m) {
      if (chance(random_, 50)) case_.op.axis.push_back(m);
    }
    if (case_.op.axis.empty()) case_.op.axis.push_back(pick(random_, 0, modes - 1));
    reduces_ = true;
  }

  /// One or two reductions. The second may reduce the result of the first.
  std::string reductions() {
    static const std::vector<std::string> kFloating = {"sum", "mean",   "max",   "min",
                                                       "var", "argmax", "argmin"};
    static const std::vector<std::string> kInteger = {"sum", "max", "min", "any", "all", "argmax"};
    std::string text;
    const int count = pick(random_, 1, 2);
    for (int i = 0; i < count; ++i) {
      const std::string name = "r" + std::to_string(i);
      text += name + " = " + pick_of(random_, floating() ? kFloating : kInteger) + "(" +
              expression(pick(random_, 0, 2)) + ")\n";
      reduced_.push_back(name);
    }
    return text;
  }

  /// One or two scans along one axis in one direction, sometimes with a reduction along that axis.
  std::string scans() {
    static const std::vector<std::string> kScans = {"cumsum", "cumsum", "cumprod", "cummax",
                                                    "cummin"};
    const int axis = pick(random_, 0, static_cast<int>(shape_.size()) - 1);
    const std::string direction = chance(random_, 40) ? ", reverse=true" : "";
    std::string text;
    if (chance(random_, 30)) {
      case_.op.axis = {axis};
      text = reductions();
    }
    std::vector<std::string> names;
    const int count = pick(random_, 1, 2);
    for (int i = 0; i < count; ++i) {
      names.push_back("c" + std::to_string(i));
      text += names.back() + " = " + pick_of(random_, kScans) + "(" +
              expression(pick(random_, 0, 2)) + ", axis=" + std::to_string(axis) + direction +
              (chance(random_, 40) ? ", exclusive=true" : "") + ")\n";
    }
    reduced_.insert(reduced_.end(), names.begin(), names.end());
    return text;
  }

  /// Reductions over one axis, then reductions or scans along another, sometimes of their results.
  /// This gives several kernels.
  std::string mixed() {
    static const std::vector<std::string> kSecond = {"sum", "max", "min", "cumsum", "cummax"};
    const int modes = static_cast<int>(shape_.size());
    const int first = pick(random_, 0, modes - 1);
    const int second = (first + pick(random_, 1, modes - 1)) % modes;
    case_.op.axis = {first};
    std::string text = reductions();
    const int count = pick(random_, 1, 2);
    for (int i = 0; i < count; ++i) {
      const std::string name = "m" + std::to_string(i);
      text += name + " = " + pick_of(random_, kSecond) + "(" + expression(pick(random_, 0, 2)) +
              ", axis=" + std::to_string(second) + ")\n";
      reduced_.push_back(name);
    }
    return text;
  }

  /// An output of one element per row: the reduced axes are left out or have extent 1.
  void add_row_tensor(const std::string& name, DType dtype) {
    const bool keeps = chance(random_, 50);
    std::vector<Dim> extents, strides;
    for (std::size_t m = 0; m < shape_.size(); ++m) {
      const bool reduced = std::ranges::count(case_.op.axis, static_cast<int>(m)) != 0;
      if (!reduced || keeps) extents.push_back(reduced ? Dim(1) : extent_of(m));
    }
    if (extents.empty()) extents.push_back(Dim(1));
    strides.resize(extents.size());
    Dim next = 1;
    for (std::size_t m = extents.size(); m-- > 0;) {
      strides[m] = next;
      if (!extents[m].is(0)) next = next * extents[m];
    }
    case_.op.tensors.push_back(
        {.name = name, .dtype = dtype, .layout = {as_tuple(extents), as_tuple(strides)}});
  }

  void make_formula() {
    const int outputs = chance(random_, 25) ? 2 : 1;
    std::string formula = reduces_ ? reductions() : mixes_ ? mixed() : scans_ ? scans() : "";
    for (int i = 0; i < outputs; ++i) {
      const std::string name = "y" + std::to_string(i);
      const std::string value = expression(pick(random_, 1, 4));
      add_tensor(
          name, chance(random_, 70) ? pick_of(random_, family_) : pick_of(random_, family_of_any()),
          false);
      formula += name + " = " + value + "\n";
    }
    // Every operand must be used.
    std::string sum;
    for (const Tensor& t : case_.op.tensors) {
      if (t.name[0] == 'x') sum += (sum.empty() ? "" : " + ") + t.name;
    }
    for (const Scalar& s : case_.op.scalars) sum += " + " + s.name;
    if (reduces_ || mixes_) {
      const std::string result = mixes_ ? "r0" : reduced_.back();
      add_row_tensor("w", pick_of(random_, family_));
      formula += "w = " + (chance(random_, 50) ? result : "abs(" + result + ")") + "\n";
    }
    if (scans_ || mixes_) sum += " + " + reduced_.back();
    add_tensor("z", pick_of(random_, family_), false);
    if (chance(random_, 15)) {
      Tensor& in_place = case_.op.tensors.back();
      in_place.access = Access::inout;
      sum += " + z";
    }
    case_.op.formula = formula + "z = " + sum;
  }

  std::vector<DType> family_of_any() { return {std::begin(kAllDTypes), std::end(kAllDTypes)}; }

  bool floating() const {
    return std::ranges::any_of(family_, [](DType d) { return is_floating(d); });
  }

  std::string leaf() {
    std::vector<std::string> names;
    for (const Tensor& t : case_.op.tensors) {
      if (t.name[0] == 'x') names.push_back(t.name);
    }
    if (!case_.op.scalars.empty()) names.push_back("s");
    if (chance(random_, 15)) return floating() ? "1.5" : "3";
    if (chance(random_, 5)) {
      const int axis = pick(random_, 0, static_cast<int>(shape_.size()) - 1);
      const std::string place = "iota(" + std::to_string(axis) + ")";
      return floating() ? "cast(" + place + " % 7, f32)" : place;
    }
    names.insert(names.end(), reduced_.begin(), reduced_.end());
    return pick_of(random_, names);
  }

  std::string expression(int depth) {
    if (depth == 0) return leaf();
    const std::string a = expression(depth - 1);
    const std::string b = chance(random_, 50) ? leaf() : expression(depth - 1);
    static const std::vector<std::string> kBoth = {"($a + $b)",
                                                   "($a - $b)",
                                                   "($a * $b)",
                                                   "min($a, $b)",
                                                   "max($a, $b)",
                                                   "abs($a)",
                                                   "-($a)",
                                                   "where($a < $b, $a, $b)",
                                                   "sign($a)",
                                                   "relu($a)",
                                                   "($a // ($b + 5))",
                                                   "($a % 7)",
                                                   "where($a == $b or $a > 1, $b, $a)"};
    static const std::vector<std::string> kFloating = {"sigmoid($a)",
                                                       "tanh($a)",
                                                       "silu($a)",
                                                       "gelu($a)",
                                                       "gelu_tanh($a)",
                                                       "exp(-abs($a))",
                                                       "sqrt(abs($a))",
                                                       "erf($a)",
                                                       "sin($a)",
                                                       "cos($a)",
                                                       "($a / (abs($b) + 1))",
                                                       "floor($a)",
                                                       "clamp($a, -1, 1)",
                                                       "log(abs($a) + 1)",
                                                       "rsqrt(abs($a) + 0.5)",
                                                       "exp2($a * 0.25)",
                                                       "round($a)",
                                                       "atan2($a, $b)",
                                                       "erfc($a)",
                                                       "log1p(abs($a))",
                                                       "expm1(-abs($a))",
                                                       "fma($a, $b, $a)",
                                                       "hypot($a, $b)",
                                                       "trunc($a)",
                                                       "where(isnan($a), $b, atan($a))",
                                                       "(cosh(clamp($a, -3, 3)) + cbrt($b))"};
    static const std::vector<std::string> kInteger = {
        "($a & $b)", "($a | 5)",   "($a ^ $b)", "~$a",          "($a << 2)",
        "($a >> 1)", "($a // $b)", "($a % $b)", "cast($a, i8)", "clamp($a, 1, 9)"};
    std::string text = pick_of(random_, chance(random_, 50) ? kBoth
                                        : floating()        ? kFloating
                                                            : kInteger);
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"$a", a}, {"$b", b}}) {
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, 2, to);
    }
    return text;
  }

  Random& random_;
  RandomCase case_;
  std::vector<std::int64_t> shape_;
  std::vector<bool> symbolic_;
  std::vector<DType> family_;
  bool reduces_ = false, mixes_ = false, scans_ = false;
  std::vector<std::string> reduced_;  // temporaries that hold results of reductions and scans
};

}  // namespace

RandomCase random_case(Random& random) {
  for (;;) {
    RandomCase c = Generator(random).run();
    try {
      validate(c.op);
      return c;
    } catch (const Error& error) {
      // A literal that does not fit, such as ~3 for an unsigned dtype: tries the next one.
      if (error.code() != ErrorCode::invalid_formula) throw;
    }
  }
}

}  // namespace tilejit::test
