#include "support/attention_case.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace tilejit::test {
namespace {

class AttentionGenerator {
 public:
  explicit AttentionGenerator(Random& random) : random_(random) {}

  RandomCase run() {
    type_ = chance(60) ? bf16 : f16;
    const int batches = pick(0, 2), groups = batches > 0 && chance(40) ? pick(2, 3) : 1;
    for (int i = 0; i < batches; ++i) batch_.emplace_back(pick(1, 3));
    if (groups > 1) batch_.emplace_back(groups);
    const int depth = 8 * pick(1, 16), columns = chance(70) ? depth : 8 * pick(1, 16);
    queries_ = length("Q");
    keys_ = chance(50) ? queries_ : length("S");
    std::vector<Dim> of_keys = batch_;
    if (groups > 1) of_keys.back() = 1;
    tensor("q", type_, batch_, {queries_, depth});
    tensor("k", type_, of_keys, {keys_, depth});
    tensor("v", type_, of_keys, {keys_, columns});
    std::string score = scaled();
    for (int i = pick(0, 2); i > 0; --i) score = changed(score);
    std::string masked = "t";
    for (int i = pick(0, 2); i > 0; --i) masked = with_mask(masked);
    const std::string type(to_string(type_));
    const std::string base = chance(25) ? "exp2" : "exp";
    case_.op.formula = "s = q @ k.T; t = " + score + "; u = " + masked + "; ";
    const bool has_maximum = chance(85);
    case_.op.formula +=
        has_maximum ? "m = max(u); e = " + base + "(u - m); " : "e = " + base + "(u); ";
    std::string weights = chance(80) ? "(e / sum(e))" : "(e * (1 / sum(e)))";
    if (has_maximum && chance(25)) weights = with_sink(base);
    case_.op.formula += "y = " + type + weights + " @ v" + after();
    if (has_maximum && chance(25)) {
      case_.op.formula += "; r = m + log(sum(e))";
      tensor("r", f32, batch_, {queries_, 1});
    }
    tensor("y", chance(20) ? f32 : type_, batch_, {queries_, columns});
    case_.op.name = "attention";
    return std::move(case_);
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  std::string name(const char* start) { return start + std::to_string(names_++); }

  Dim length(const char* symbol) {
    const int extent = chance(30) ? 128 * pick(1, 4) : chance(20) ? pick(1, 20) : pick(1, 420);
    if (!chance(30)) return extent;
    case_.symbols[symbol] = extent;
    return Dim(symbol);
  }

  /// Rows are contiguous and aligned if `shape` are those of an operand.
  void tensor(const std::string& name, DType dtype, std::vector<Dim> extents,
              const std::vector<Dim>& shape) {
    extents.insert(extents.end(), shape.begin(), shape.end());
    std::vector<std::size_t> order(extents.size() - 1);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::reverse(order);
    if (chance(50)) std::ranges::shuffle(order, random_);
    std::vector<Dim> strides(extents.size(), Dim(1));
    Dim next = extents.back();
    for (const std::size_t i : order) {
      strides[i] = next;
      next = next * extents[i];
      if (chance(10)) next = next * Dim(2);
    }
    const auto tuple = [](const std::vector<Dim>& dims) {
      return IntTuple::tuple(std::vector<IntTuple>(dims.begin(), dims.end()));
    };
    case_.op.tensors.push_back(
        {.name = name, .dtype = dtype, .layout = {tuple(extents), tuple(strides)}});
  }

  std::string scaled() {
    switch (pick(1, 5)) {
      case 1: return "s";
      case 2: return "s * 0.125";
      case 3: return "s / 8";
      case 4: return "-0.0625 * s";
      default:
        case_.op.scalars.push_back({.name = "scale", .dtype = f32});
        case_.scalars.emplace_back(0.2);
        return "s * scale";
    }
  }

  /// A tensor of those extents of a score that chance keeps.
  std::string beside(DType dtype, bool along_queries, bool along_keys) {
    std::vector<Dim> extents = batch_;
    for (Dim& extent : extents) {
      if (chance(40)) extent = 1;
    }
    const std::string own = name("x");
    tensor(own, dtype, extents, {along_queries ? queries_ : Dim(1), along_keys ? keys_ : Dim(1)});
    return own;
  }

  std::string changed(const std::string& score) {
    switch (pick(1, 6)) {
      case 1: return "5 * tanh((" + score + ") / 5)";
      case 2: return score + " + " + beside(chance(50) ? f32 : type_, true, true);
      case 3: return score + " + " + beside(f32, false, false) + " * f32(iota(-1) - iota(-2)) / 64";
      case 4: return "(" + score + ") * " + beside(f32, chance(50), false);
      case 5: return "where((" + score + ") > 0, " + score + ", 0.5 * (" + score + "))";
      default: return score + " - abs(f32(iota(-2))) / 512";
    }
  }

  /// The first key is always seen.
  std::string with_mask(const std::string& score) {
    std::string condition;
    switch (pick(1, 7)) {
      case 1: condition = "iota(-1) <= iota(-2)"; break;
      case 2: condition = "iota(-1) <= iota(-2) + max(extent(-1) - extent(-2), 0)"; break;
      case 3: condition = "abs(iota(-1) - iota(-2)) < 50"; break;
      case 4: condition = "iota(-1) // 96 == iota(-2) // 96"; break;
      case 5: {
        case_.op.scalars.push_back({.name = name("w"), .dtype = i32});
        case_.scalars.emplace_back(pick(1, 300));
        condition = "iota(-1) < " + case_.op.scalars.back().name;
        break;
      }
      case 6: condition = "iota(-1) % 3 == iota(-2) % 3"; break;
      default: condition = beside(i32, true, false) + " >= " + beside(i32, false, true);
    }
    if (chance(30)) return "where(iota(-1) > 0 and not(" + condition + "), -inf, " + score + ")";
    return "where(iota(-1) == 0 or " + condition + ", " + score + ", -inf)";
  }

  std::string with_sink(const std::string& base) {
    if (chance(50)) return "(e / max(sum(e), 1e-20))";
    return "(e / (sum(e) + " + base + "(" + beside(f32, chance(30), false) + " - m)))";
  }

  std::string after() {
    switch (pick(1, 5)) {
      case 1: return " * 2";
      case 2: {
        const std::string own = name("z");
        tensor(own, f32, std::vector<Dim>(batch_.size(), 1), {1, 1});
        return " + " + own;
      }
      default: return "";
    }
  }

  Random& random_;
  RandomCase case_;
  DType type_ = bf16;
  int names_ = 0;
  std::vector<Dim> batch_;
  Dim queries_ = 1, keys_ = 1;
};

}  // namespace

RandomCase random_attention(Random& random) {
  return AttentionGenerator(random).run();
}

}  // namespace tilejit::test
