#include "support/product_case.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "expr/promotion.hpp"
#include "tilejit/error.hpp"

namespace tilejit::test {
namespace {

constexpr std::pair<DType, DType> kOperands[] = {
    {f32, f32}, {bf16, bf16}, {f16, f16}, {f64, f64},       {tf32, tf32},
    {i8, i8},   {u8, i8},     {u8, u8},   {f8e4m3, f8e5m2}, {f8e4m3, f8e4m3},
};

int pick_from(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

int random_extent(Random& random, ProductExtents extents) {
  const auto pick = [&](int low, int high) { return pick_from(random, low, high); };
  if (extents == ProductExtents::small) {
    if (pick(1, 100) <= 30) return 8 * pick(1, 18);
    return pick(1, 100) <= 30 ? pick(1, 20) : pick(1, 150);
  }
  switch (pick(1, 8)) {
    case 1: return pick(1, 20);
    case 2: return 8 * pick(1, 40);
    case 3: return pick(1, 300);
    case 4: return 16 * pick(1, 64);
    case 5: return 8 * pick(1, 375);
    default: return pick(1, 8) <= 4 ? pick(1, 1000) : pick(1, 3000);
  }
}

/// The random parts of an expression: operators and functions around `leaves`.
class RandomExpression {
 public:
  RandomExpression(Random& random, bool floating, std::vector<std::string> leaves)
      : random_(random), floating_(floating), leaves_(std::move(leaves)) {}

  std::string of_depth(int depth) {
    if (depth == 0) return of(leaves_);
    static const std::vector<std::string> kBoth = {
        "($a + $b)",       "($a - $b)", "($a * $b)", "min($a, $b)",
        "max($a, $b)",     "abs($a)",   "-($a)",     "where($a < $b, $a, $b)",
        "relu($a)",        "sign($a)",  "($a % 7)",  "where(iota(-1) > iota(-2), $a, $b)",
        "clamp($a, -9, 9)"};
    static const std::vector<std::string> kFloating = {"sigmoid($a)",
                                                       "tanh($a)",
                                                       "silu($a)",
                                                       "gelu($a)",
                                                       "gelu_tanh($a)",
                                                       "erf($a)",
                                                       "sin($a)",
                                                       "cos($a)",
                                                       "($a / (abs($b) + 1))",
                                                       "exp(-abs($a))",
                                                       "floor($a)",
                                                       "round($a)",
                                                       "sqrt(abs($a))",
                                                       "rsqrt(abs($a) + 0.5)",
                                                       "log(abs($a) + 1)",
                                                       "exp2(clamp($a, -5, 5))",
                                                       "fma($a, $b, $a)",
                                                       "bf16($a)"};
    static const std::vector<std::string> kInteger = {"($a & $b)", "($a | 5)",   "($a ^ $b)",
                                                      "~$a",       "($a << 2)",  "($a >> 1)",
                                                      "($a // 3)", "i32(u8($a))"};
    std::string text = of(pick_from(random_, 0, 1) == 0 ? kBoth : floating_ ? kFloating : kInteger);
    const std::string a = of_depth(depth - 1), b = of_depth(pick_from(random_, 0, depth - 1));
    for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
      const std::string& value = text[at + 1] == 'a' ? a : b;
      text.replace(at, 2, value);
      at += value.size();
    }
    return text;
  }

 private:
  const std::string& of(const std::vector<std::string>& texts) {
    return texts[static_cast<std::size_t>(
        pick_from(random_, 0, static_cast<int>(texts.size()) - 1))];
  }

  Random& random_;
  bool floating_;
  std::vector<std::string> leaves_;
};

class ProductGenerator {
 public:
  ProductGenerator(Random& random, DType a, DType b, ProductExtents sizes)
      : random_(random), a_type_(a), b_type_(b), type_(*expr::product_type(a, b)), sizes_(sizes) {}

  /// One product, and a random formula around it.
  RandomCase epilogue() {
    case_.op.name = "epilogue";
    make_extents();
    const std::string left = operand("a", a_type_, "M", "K");
    const std::string right = operand("b", b_type_, "K", "N");
    std::vector<std::string> leaves = {"p", "p", "p"};
    for (const auto& [name, rows, columns] :
         {std::tuple("r", "M", "N"), {"u", "1", "N"}, {"v", "M", "1"}}) {
      if (chance(40)) continue;
      tensor(name, beside(), {rows, columns}, Batches::some);
      leaves.emplace_back(name);
    }
    RandomExpression expression(random_, is_floating(type_), leaves);
    case_.op.formula = "p = " + left + " @ " + right + (is_floating(type_) ? " * 0.125\n" : "\n");
    std::string all = "p";
    for (std::size_t i = 3; i < leaves.size(); ++i) all += " + " + leaves[i];
    case_.op.formula += "d = " + expression.of_depth(pick(1, 4)) + " + (" + all + ")\n";
    output("d", {"M", "N"});
    if (chance(30)) {
      case_.op.formula += "e = " + expression.of_depth(pick(1, 3)) + " + p\n";
      output("e", {"M", "N"});
    }
    return std::move(case_);
  }

  RandomCase run() {
    case_.op.name = "product";
    make_extents();
    const std::string left = operand("a", a_type_, "M", "K");
    const std::string right = operand("b", b_type_, "K", "N");
    std::string formula = "p = " + left + " @ " + right + "\n";
    std::string value = "p";
    if (chance(10)) value = chained();
    formula += "d = " + around(value) + "\n";
    output("d", {"M", last_});
    if (chance(25)) {
      formula += "e = " + std::string(chance(50) ? "d" : "abs(" + value + ")") + "\n";
      output("e", {"M", last_});
    }
    if (chance(12)) {
      formula += "w = max(" + value + ")\n";
      output("w", {"M", "1"});
    }
    case_.op.formula = formula;
    return std::move(case_);
  }

 private:
  int pick(int low, int high) { return pick_from(random_, low, high); }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  int extent() { return random_extent(random_, sizes_); }

  void make_extents() {
    extents_ = {{"M", extent()}, {"N", extent()}, {"K", chance(5) ? 0 : extent()}, {"R", extent()}};
    const int largest = std::max({extents_["M"], extents_["N"], extents_["K"], extents_["R"]});
    const int batches = chance(60) || largest > 1000 ? 0 : pick(1, 2);
    for (int i = 0; i < batches; ++i) {
      batches_.push_back(std::string("B") + std::to_string(i));
      extents_[batches_.back()] = pick(1, 3);
    }
    for (const auto& [name, extent] : extents_)
      symbolic_[name] = chance(sizes_ == ProductExtents::small ? 20 : 40);
  }

  Dim dim(const std::string& name) {
    if (name == "1") return 1;
    if (!symbolic_[name]) return extents_[name];
    case_.symbols[name] = extents_[name];
    return Dim(name);
  }

  enum class Batches : std::uint8_t { all, some };

  /// A tensor with batches before its own modes, in any order of strides, with gaps.
  void tensor(const std::string& name, DType dtype, std::vector<std::string> modes,
              Batches batches) {
    std::vector<Dim> extents;
    const bool none = batches == Batches::some && chance(30);
    for (const std::string& batch : batches_) {
      if (!none) extents.push_back(batches == Batches::some && chance(20) ? Dim(1) : dim(batch));
    }
    for (const std::string& mode : modes) extents.push_back(dim(mode));
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::reverse(order);
    if (chance(40)) std::ranges::shuffle(order, random_);
    std::vector<Dim> strides(extents.size(), Dim(0));
    Dim next = chance(5) ? 2 : 1;
    for (const std::size_t i : order) {
      strides[i] = next;
      if (!extents[i].is(0)) next = next * extents[i];
      if (chance(8)) next = next * Dim(2);
    }
    const auto tuple = [](const std::vector<Dim>& dims) {
      return IntTuple::tuple(std::vector<IntTuple>(dims.begin(), dims.end()));
    };
    case_.op.tensors.push_back(
        {.name = name, .dtype = dtype, .layout = {tuple(extents), tuple(strides)}});
    if (chance(10)) case_.op.tensors.back().align = size_bytes(dtype);
  }

  /// The text of an operand of `type` and shape (rows, columns).
  std::string operand(const std::string& name, DType type, std::string rows, std::string columns) {
    const bool turned = chance(25);
    if (turned) std::swap(rows, columns);
    const std::string text(to_string(type));
    const std::string own = name + (turned ? ".T" : "");
    if (type == tf32 && chance(60)) {
      tensor(name, f32, {rows, columns}, Batches::some);
      return "tf32(" + own + ")";
    }
    if (is_floating(type) && type != f64 && chance(15)) {
      tensor(name, f32, {rows, columns}, Batches::some);
      return text + "(" + own + " * 0.5 + 1)";
    }
    tensor(name, type, {rows, columns}, Batches::some);
    if (is_floating(type) && chance(8)) return text + "(" + own + " * 0.75)";
    return own;
  }

  /// The product times another matrix, in the type of the first operand.
  std::string chained() {
    last_ = "R";
    const std::string text(to_string(a_type_));
    tensor("c", a_type_, {"N", "R"}, Batches::some);
    return "(" + text + "(p) @ c)";
  }

  /// The type of tensors beside the product.
  [[nodiscard]] DType beside() { return type_ == i32 || type_ == f64 || chance(50) ? type_ : f32; }

  static bool replace(std::string& text, const std::string& from, const std::string& to) {
    bool found = false;
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
      found = true;
    }
    return found;
  }

  std::string around(const std::string& value) {
    static const std::vector<std::string> kForms = {"$p",
                                                    "$p",
                                                    "$p + $bias",
                                                    "relu($p + $bias)",
                                                    "$p * 2 + $r",
                                                    "where(iota(-2) >= iota(-1), $p, 0)",
                                                    "max($p, $r) - $bias",
                                                    "$p * $s + abs($p)",
                                                    "where($p > $r, $p, -$p)"};
    static const std::vector<std::string> kFloating = {
        "gelu($p + $bias) * 0.5 + $r", "silu($p) * $r", "tanh($p * 0.01)", "$p / (abs($bias) + 1)"};
    const std::vector<std::string>& forms = is_floating(type_) && chance(40) ? kFloating : kForms;
    std::string text = forms[static_cast<std::size_t>(pick(0, static_cast<int>(forms.size()) - 1))];
    (void)replace(text, "$p", value);
    if (replace(text, "$bias", "bias"))
      tensor("bias", beside(), {chance(30) ? "M" : "1", last_}, Batches::some);
    if (replace(text, "$r", "r")) tensor("r", beside(), {"M", last_}, Batches::some);
    if (replace(text, "$s", "s")) {
      case_.op.scalars.push_back({.name = "s", .dtype = type_ == i32 ? i32 : f32});
      case_.scalars.push_back(type_ == i32 ? Number(3) : Number(0.75));
    }
    return text;
  }

  void output(const std::string& name, std::vector<std::string> modes) {
    const DType dtype = type_ == i32   ? (chance(70) ? i32 : i64)
                        : type_ == f64 ? f64
                        : chance(50)   ? f32
                                       : type_;
    tensor(name, dtype, std::move(modes), Batches::all);
    Tensor& tensor = case_.op.tensors.back();
    if (name == "d" && chance(10)) tensor.align = size_bytes(dtype);
  }

  Random& random_;
  DType a_type_, b_type_, type_;
  ProductExtents sizes_;
  RandomCase case_;
  std::map<std::string, int> extents_;
  std::map<std::string, bool> symbolic_;
  std::vector<std::string> batches_;
  std::string last_ = "N";  // the last mode of the result
};

/// The first case that is valid: types or shapes may not meet, such as a batch that repeats
/// everywhere.
template <class Make>
RandomCase first_valid(const Make& make) {
  for (;;) {
    RandomCase c = make();
    try {
      validate(c.op);
      return c;
    } catch (const Error&) {
      continue;
    }
  }
}

std::pair<DType, DType> random_operands(Random& random) {
  const auto last = static_cast<int>(std::size(kOperands)) - 1;
  return kOperands[pick_from(random, 0, last)];
}

}  // namespace

RandomCase random_product(Random& random) {
  const auto [a, b] = random_operands(random);
  return random_product(random, a, b);
}

RandomCase random_product(Random& random, DType a, DType b, ProductExtents extents) {
  return first_valid([&] { return ProductGenerator(random, a, b, extents).run(); });
}

void change_symbols(RandomCase& product, Random& random, ProductExtents extents) {
  const bool has_batches = std::ranges::any_of(
      product.op.tensors, [](const Tensor& tensor) { return rank(tensor.layout) > 2; });
  for (auto& [name, value] : product.symbols) {
    value = name.starts_with('B') ? pick_from(random, 1, 3) : random_extent(random, extents);
    if (has_batches) value = std::min<std::int64_t>(value, 1000);
  }
}

RandomCase random_epilogue(Random& random) {
  return first_valid([&] {
    const auto [a, b] = random_operands(random);
    return ProductGenerator(random, a, b, ProductExtents::small).epilogue();
  });
}

}  // namespace tilejit::test
