// Products that share an operand, and factors of operands, on the device, against the reference:
// the first are one kernel on sm_90a. TILEJIT_TEST_CASES sets how many random ones,
// TILEJIT_TEST_SEED the first seed.
#include <array>

#include "gpu/gpu_fixture.hpp"
#include "support/number_from_env.hpp"

namespace tilejit::test {
namespace {

class Pairs : public Gpu {};

template <class T, std::size_t kCount>
const T& one_of(Random& random, const std::array<T, kCount>& values) {
  return values[std::uniform_int_distribution<std::size_t>(0, kCount - 1)(random)];
}

/// A multiple of 8, as tensor maps ask for, seldom of a tile.
int extent(Random& random, int most) {
  return 8 * std::uniform_int_distribution<int>(1, most / 8)(random);
}

/// A matrix whose rows or columns are contiguous.
Tensor matrix(Random& random, const char* name, DType type, int rows, int columns) {
  const bool by_rows = random() % 2 == 0;
  const int apart = (by_rows ? columns : rows) + 8 * static_cast<int>(random() % 2);
  return {name, type,
          Layout(IntTuple{rows, columns}, by_rows ? IntTuple{apart, 1} : IntTuple{1, apart})};
}

struct Shapes {
  int m, n, k;
};

Shapes shapes(Random& random) {
  const int k = extent(random, 600);
  return {extent(random, 700), extent(random, 900), random() % 2 == 0 ? k : (k + 63) / 64 * 64};
}

/// Two products with the left operand in common, or the right one.
Fused pair(Random& random) {
  constexpr std::array kTypes = {bf16, f16};
  constexpr std::array kFormulas = {
      "d = silu({}) * {}",
      "d = {} * sigmoid({} + bias) + rest",
      "d = gelu({}) * {} + iota(0) * 0.001; e = relu(rest) * 0.5",
  };
  const DType type = one_of(random, kTypes);
  const DType stored = random() % 3 == 0 ? f32 : type;
  const auto [m, n, k] = shapes(random);
  const bool left = random() % 3 == 0;  // they share the right one
  Fused op{.name = "pair", .tensors = {}};
  if (left) {
    op.tensors = {matrix(random, "w", type, k, n), matrix(random, "x", type, m, k)};
  } else {
    op.tensors = {matrix(random, "x", type, m, k), matrix(random, "w", type, k, n)};
  }
  op.tensors.push_back(op.tensors[1]);
  op.tensors.back().name = "v";
  op.tensors.push_back({"bias", type, Layout(n, 1)});
  op.tensors.push_back(matrix(random, "rest", type, m, n));
  op.tensors.push_back(matrix(random, "d", stored, m, n));
  op.formula = one_of(random, kFormulas);
  const std::array products =
      left ? std::array{"(x @ w)", "(v @ w)"} : std::array{"(x @ w)", "(x @ v)"};
  for (const char* product : products) op.formula.replace(op.formula.find("{}"), 2, product);
  if (op.formula.find("e =") != std::string::npos) {
    op.tensors.push_back(op.tensors.back());
    op.tensors.back().name = "e";
  }
  const auto unused = [&](const Tensor& t) {
    return (t.name == "bias" || t.name == "rest") && op.formula.find(t.name) == std::string::npos;
  };
  std::erase_if(op.tensors, unused);
  return op;
}

/// Factors of either operand, or of both operands that a pair shares: reduced from whole rows,
/// tensors, scalars.
Fused with_factors(Random& random) {
  constexpr std::array kLefts = {
      "x * rsqrt(mean(x * x) + 1)",
      "bf16(x * rsqrt(mean(f32(x) * f32(x)) + 0.5) * s)",
      "bf16(s * f32(x) / (1 + r * r))",
      "x / (1 + max(abs(x)))",
  };
  constexpr std::array kRights = {"w", "w * c", "w / (1 + max(abs(w), axis=0))"};
  constexpr std::array kFormulas = {"d = ({}) @ ({})", "d = gelu(({}) @ ({}) + c)",
                                    "h = {}; d = silu(h @ w) * (h @ ({}))"};
  const auto [m, n, k] = shapes(random);
  Fused op{.name = "factors",
           .tensors = {matrix(random, "x", bf16, m, k), matrix(random, "w", bf16, k, n),
                       Tensor{"r", f32, Layout(IntTuple{m, 1}, IntTuple{1, 0})},
                       Tensor{"c", bf16, Layout(n, 1)}, matrix(random, "d", bf16, m, n)},
           .scalars = {{.name = "s", .dtype = f32}}};
  op.formula = one_of(random, kFormulas);
  op.formula.replace(op.formula.find("{}"), 2, one_of(random, kLefts));
  op.formula.replace(op.formula.find("{}"), 2, one_of(random, kRights));
  const auto uses = [&](const std::string& name) {
    for (std::size_t at = 0; (at = op.formula.find(name, at)) != std::string::npos; ++at) {
      const auto is_letter = [&](std::size_t i) {
        return i < op.formula.size() && std::isalpha(op.formula[i]) != 0;
      };
      if (!is_letter(at - 1) && !is_letter(at + 1)) return true;
    }
    return false;
  };
  std::erase_if(op.tensors, [&](const Tensor& t) { return t.name != "d" && !uses(t.name); });
  if (!uses("s")) op.scalars.clear();
  return op;
}

void run_seeds(Fused (*make)(Random&), void (*run)(const RandomCase&, Random&)) {
  const std::uint64_t first = number_from_env("TILEJIT_TEST_SEED", 1);
  const std::uint64_t count = number_from_env("TILEJIT_TEST_CASES", 40);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const Fused op = make(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + to_json(op));
    try {
      run({.op = op, .symbols = {}, .scalars = std::vector<Number>(op.scalars.size(), 0.75)},
          random);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << error.log();
    }
  }
}

TEST_F(Pairs, OfRandomShapesAgreeWithTheReference) {
  run_seeds(pair, [](const RandomCase& c, Random& random) { run_and_verify(c, random); });
}

TEST_F(Pairs, AndFactorsOfOperandsAgreeWithTheReference) {
  run_seeds(with_factors, [](const RandomCase& c, Random& random) { run_and_verify(c, random); });
}

}  // namespace
}  // namespace tilejit::test
