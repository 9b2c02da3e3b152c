#include "support/reduction_case.hpp"

#include <array>
#include <iterator>
#include <string>
#include <utility>

namespace tilejit::test {
namespace {

struct Formula {
  const char* text;
  std::array<const char*, 2> full;  ///< outputs of all elements
  std::array<const char*, 2> rows;  ///< outputs of one element a row
};

constexpr Formula kFormulas[] = {
    {"m = max(x @ w)", {}, {"m"}},
    {"s = log(sum(exp((x @ w) * 0.1 + bias)))", {}, {"s"}},
    {"p = x @ w; m = max(p); s = mean(p * r)", {}, {"m", "s"}},
    {"p = gelu(x @ w + bias); y = p; m = max(abs(p))", {"y"}, {"m"}},
    {"y = x @ w; s = sum(y * y); m = min(y) * r", {"y"}, {"s", "m"}},
    {"p = x @ w + rest; y = p; z = relu(p) * r; m = max(p) - min(p)", {"y", "z"}, {"m"}},
    {"m = max(where(iota(-1) <= iota(-2), x @ w, -inf))", {}, {"m"}},
    {"s = prod(1 + (x @ w) * 0.001) + r", {}, {"s"}},
};

int extent(Random& random, int most) {
  return std::uniform_int_distribution<int>(1, most)(random);
}

Tensor matrix(Random& random, const char* name, DType type, int batch, int rows, int columns,
              bool by_rows) {
  const int apart = (by_rows ? columns : rows) + 8 * static_cast<int>(random() % 2);
  const int outer = by_rows ? apart : 1, inner = by_rows ? 1 : apart;
  if (batch == 0) return {name, type, Layout(IntTuple{rows, columns}, IntTuple{outer, inner})};
  const int whole = apart * (by_rows ? rows : columns);
  return {name, type,
          Layout(IntTuple{batch, rows, columns}, IntTuple{(whole + 7) / 8 * 8, outer, inner})};
}

/// Without a mode for the axis that is reduced, or with one of extent 1.
Tensor rows_of(Random& random, const char* name, DType type, int batch, int rows) {
  if (batch > 0) return {name, type, Layout(IntTuple{batch, rows}, IntTuple{rows, 1})};
  if (random() % 2 == 0) return {name, type, Layout(rows, 1)};
  return {name, type, Layout(IntTuple{rows, 1}, IntTuple{1, 0})};
}

}  // namespace

RandomCase random_reduction(Random& random, int most) {
  const DType type = random() % 2 == 0 ? bf16 : f16;
  const int batch = random() % 4 == 0 ? 2 : 0;
  const int m = most / 2 + extent(random, most / 2), n = most / 2 + 8 * extent(random, most / 16);
  const int k = random() % 2 == 0 ? 64 : 8 * extent(random, 16);
  const Formula& formula = kFormulas[random() % std::size(kFormulas)];
  const bool by_rows = m % 8 != 0 || random() % 2 == 0;
  Fused op{.name = "reduced",
           .tensors = {matrix(random, "x", type, batch, m, k, by_rows),
                       matrix(random, "w", type, 0, k, n, random() % 2 == 0)},
           .formula = formula.text};
  const auto uses = [&](const char* name) { return op.formula.find(name) != std::string::npos; };
  if (uses("bias")) op.tensors.push_back({"bias", random() % 2 == 0 ? type : f32, Layout(n, 1)});
  if (uses("rest")) op.tensors.push_back(matrix(random, "rest", type, batch, m, n, true));
  if (uses("* r") || uses("+ r;") || op.formula.ends_with("+ r")) {
    op.tensors.push_back({"r", f32,
                          batch > 0 ? Layout(IntTuple{batch, m, 1}, IntTuple{m, 1, 0})
                                    : Layout(IntTuple{m, 1}, IntTuple{1, 0})});
  }
  for (const char* name : formula.full) {
    if (name != nullptr) op.tensors.push_back(matrix(random, name, type, batch, m, n, true));
  }
  for (const char* name : formula.rows) {
    if (name != nullptr)
      op.tensors.push_back(rows_of(random, name, random() % 2 == 0 ? f32 : type, batch, m));
  }
  return {.op = std::move(op), .symbols = {}, .scalars = {}};
}

}  // namespace tilejit::test
