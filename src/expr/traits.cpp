#include "expr/traits.hpp"

namespace tilejit::expr {

// clang-format off
constinit const std::array<Traits, detail::kOps> detail::kTraits = {{
    {.name = "constant", .cost = {0, 0}, .counted = false},
    {.name = "load", .cost = {0, 0}, .counted = false},
    {.name = "scalar", .cost = {0, 0}, .counted = false},
    {.name = "cast", .counted = false},
    {.name = "neg"},
    {.name = "bit_not"},
    {.name = "logical_not"},
    {.name = "add", .infix = "+"},
    {.name = "sub", .infix = "-"},
    {.name = "mul", .infix = "*"},
    {.name = "div", .weight = 8, .cost = {8, 1}, .infix = "/", .approximation = "math::fast_div", .accuracy = {0.5, 1, 2}},
    {.name = "floor_div", .weight = 8, .cost = {60, 3}},
    {.name = "mod", .weight = 8, .cost = {50, 2}},
    {.name = "pow", .weight = 64, .cost = {80, 1}, .builtin = "pow", .accuracy = {8, 4}},
    {.name = "shl"},
    {.name = "shr"},
    {.name = "bit_and", .infix = "&"},
    {.name = "bit_or", .infix = "|"},
    {.name = "bit_xor", .infix = "^"},
    {.name = "logical_and", .infix = "&&"},
    {.name = "logical_or", .infix = "||"},
    {.name = "lt", .infix = "<"},
    {.name = "le", .infix = "<="},
    {.name = "eq", .infix = "=="},
    {.name = "ne", .infix = "!="},
    {.name = "ge", .infix = ">="},
    {.name = "gt", .infix = ">"},
    {.name = "where", .counted = false},
    {.name = "min", .builtin = "fmin"},
    {.name = "max", .builtin = "fmax"},
    {.name = "abs", .builtin = "fabs"},
    {.name = "exp", .weight = 8, .cost = {10, 1}, .builtin = "exp", .approximation = "math::fast_exp", .accuracy = {2, 3}},
    {.name = "exp2", .weight = 8, .cost = {3, 1}, .builtin = "exp2", .approximation = "math::fast_exp2", .accuracy = {2, 3}},
    {.name = "log", .weight = 8, .cost = {25, 0, 10}, .builtin = "log", .approximation = "math::fast_log", .accuracy = {1, 3, 64}},
    {.name = "log2", .weight = 8, .cost = {25, 0}, .builtin = "log2", .accuracy = {1, 3}},
    {.name = "sqrt", .weight = 8, .cost = {8, 1}, .builtin = "sqrt"},
    {.name = "rsqrt", .weight = 8, .cost = {2, 1}, .builtin = "rsqrt", .accuracy = {2, 3}},
    {.name = "sin", .weight = 16, .cost = {22, 0}, .builtin = "sin", .accuracy = {2, 4}},
    {.name = "cos", .weight = 16, .cost = {22, 0}, .builtin = "cos", .accuracy = {2, 4}},
    {.name = "tan", .weight = 24, .cost = {36, 1}, .builtin = "tan", .accuracy = {4, 4}},
    {.name = "tanh", .weight = 8, .cost = {20, 2}, .builtin = "tanh", .approximation = "math::fast_tanh", .accuracy = {2, 4, 8192}},
    {.name = "erf", .weight = 8, .cost = {25, 1, 14}, .builtin = "erf", .approximation = "math::fast_erf", .accuracy = {2, 4, 256}},
    {.name = "floor", .builtin = "floor"},
    {.name = "ceil", .builtin = "ceil"},
    {.name = "round", .builtin = "rint"},
    {.name = "sigmoid", .weight = 8, .cost = {20, 2}, .approximation = "math::fast_sigmoid", .accuracy = {4, 6, 5}},
    {.name = "silu", .weight = 8, .cost = {24, 2}, .approximation = "math::fast_silu", .accuracy = {5, 7, 6}},
    {.name = "gelu", .weight = 8, .cost = {28, 1}, .approximation = "math::fast_gelu", .accuracy = {4, 8}},
    {.name = "gelu_tanh", .weight = 8, .cost = {26, 2}, .approximation = "math::fast_gelu_tanh", .accuracy = {4, 8}},
    {.name = "asin", .weight = 8, .cost = {26, 1}, .builtin = "asin", .accuracy = {4, 4}},
    {.name = "acos", .weight = 8, .cost = {29, 1}, .builtin = "acos", .accuracy = {3, 4}},
    {.name = "atan", .weight = 8, .cost = {20, 1}, .builtin = "atan", .accuracy = {2, 4}},
    {.name = "sinh", .weight = 8, .cost = {25, 1}, .builtin = "sinh", .accuracy = {3, 4}},
    {.name = "cosh", .weight = 8, .cost = {16, 1}, .builtin = "cosh", .accuracy = {2, 4}},
    {.name = "log10", .weight = 8, .cost = {26, 0}, .builtin = "log10", .accuracy = {3, 3}},
    {.name = "log1p", .weight = 8, .cost = {25, 0}, .builtin = "log1p", .accuracy = {2, 3}},
    {.name = "expm1", .weight = 8, .cost = {29, 1}, .builtin = "expm1", .accuracy = {1, 3}},
    {.name = "cbrt", .weight = 8, .cost = {16, 2}, .builtin = "cbrt", .accuracy = {1, 5}},
    {.name = "erfc", .weight = 8, .cost = {51, 3}, .builtin = "erfc", .accuracy = {6, 10}},
    {.name = "trunc", .builtin = "trunc"},
    {.name = "atan2", .weight = 8, .cost = {41, 1}, .builtin = "atan2", .accuracy = {3, 4}},
    {.name = "copysign", .builtin = "copysign"},
    {.name = "hypot", .weight = 8, .cost = {24, 1}, .builtin = "hypot", .accuracy = {3, 4}},
    {.name = "fma", .builtin = "fma"},
    {.name = "relu"},
    {.name = "clamp", .cost = {2, 0}},
    {.name = "index", .cost = {0, 0}, .counted = false},
    {.name = "extent", .cost = {0, 0}, .counted = false},
    {.name = "reduce_sum", .weight = 8},
    {.name = "reduce_prod", .weight = 8},
    {.name = "reduce_min", .weight = 8},
    {.name = "reduce_max", .weight = 8},
    {.name = "reduce_any", .weight = 8},
    {.name = "reduce_all", .weight = 8},
    {.name = "reduce_argmin", .weight = 8},
    {.name = "reduce_argmax", .weight = 8},
    {.name = "scan_sum", .weight = 8},
    {.name = "scan_prod", .weight = 8},
    {.name = "scan_min", .weight = 8},
    {.name = "scan_max", .weight = 8},
    {.name = "matmul", .weight = 8, .cost = {0, 0}, .counted = false},
}};
// clang-format on

std::string_view to_string(Op op) noexcept {
  return traits(op).name;
}

// In f64 a function takes twice the code. Operations that combine elements have their own weight.
int weight(const Node& node) noexcept {
  const int weight = traits(node.op).weight;
  return node.type == f64 && weight > 1 && !combines_elements(node.op) ? 2 * weight : weight;
}

std::int64_t weight(const Program& program) noexcept {
  std::int64_t sum = 0;
  for (const Node& node : program.nodes) sum += weight(node);
  return sum;
}

}  // namespace tilejit::expr
