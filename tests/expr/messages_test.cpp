// Wrong formulas and their complete messages: mistakes of users who know other languages.
#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

struct Wrong {
  const char* formula;
  const char* message;  ///< all of it
};

// Compiles over tensors x_f32, x_i8 and y, as far as the formula names them.
constexpr Wrong kWrong[] = {
    {"y = exp(x_f32, axis=1)",
     "formula line 1: 'exp' has no keyword 'axis': it computes element by element; sum, max, "
     "cumsum and their like take axis=\n"
     "    y = exp(x_f32, axis=1)\n"
     "                   ^ (/formula)"},
    {"y = where(x_f32 = 1, 2, 3)",
     "formula line 1: 'where' has no keyword 'x_f32'; it takes its arguments in order (write '==' "
     "to compare)\n"
     "    y = where(x_f32 = 1, 2, 3)\n"
     "              ^ (/formula)"},
    {"y = x_f32.sum()",
     "formula line 1: unexpected character '.'; values have no methods: write sum(x_f32)\n"
     "    y = x_f32.sum()\n"
     "             ^ (/formula)"},
    {"y = (x_f32 + 1).exp()",
     "formula line 1: unexpected character '.'; values have no methods: write exp(...)\n"
     "    y = (x_f32 + 1).exp()\n"
     "                   ^ (/formula)"},
    {"y = x_f32 && 1",
     "formula line 1: expected an expression, found '&'; write 'and' for '&&'\n"
     "    y = x_f32 && 1\n"
     "               ^ (/formula)"},
    {"y = x_f32 || 1",
     "formula line 1: expected an expression, found '|'; write 'or' for '||'\n"
     "    y = x_f32 || 1\n"
     "               ^ (/formula)"},
    {"y += x_f32",
     "formula line 1: expected '=' after 'y', found '+'; write 'y = y + ...'\n"
     "    y += x_f32\n"
     "      ^ (/formula)"},
    {"y //= x_f32",
     "formula line 1: expected '=' after 'y', found '//'; write 'y = y // ...'\n"
     "    y //= x_f32\n"
     "      ^ (/formula)"},
    {"y = float32(x_f32)",
     "formula line 1: unknown function 'float32'; did you mean 'f32'?\n"
     "    y = float32(x_f32)\n"
     "        ^ (/formula)"},
    {"y = cast(x_f32, half)",
     "formula line 1: expected a dtype such as f16 or i32, found 'half'; did you mean 'f16'?\n"
     "    y = cast(x_f32, half)\n"
     "                    ^ (/formula)"},
    {"y = gleu(x_f32)",
     "formula line 1: unknown function 'gleu'; did you mean 'gelu'?\n"
     "    y = gleu(x_f32)\n"
     "        ^ (/formula)"},
    {"y = arctan(x_f32)",
     "formula line 1: unknown function 'arctan'; did you mean 'atan'?\n"
     "    y = arctan(x_f32)\n"
     "        ^ (/formula)"},
    {"Y = x_f32",
     "formula: no tensor is assigned; 'Y' is assigned, which is no tensor: did you mean 'y'? "
     "(/formula)"},
    {"out = x_f32", "formula: no tensor is assigned; the tensors are 'x_f32', 'y' (/formula)"},
    {"x_f32 = 1; Y = 2",
     "formula: tensor 'y' is never used for an output; 'Y' is assigned, which is no tensor: did "
     "you "
     "mean 'y'? (/formula)"},
    {"y = X_f32 + x_f32",
     "formula line 1: unknown name 'X_f32'; did you mean 'x_f32'?\n"
     "    y = X_f32 + x_f32\n"
     "        ^ (/formula)"},
    {"y = x_f32; x_i8 = 300",
     "formula line 1: 300 does not fit i8 (-128 to 127): give the tensor a wider dtype, or write "
     "i8(300) to wrap\n"
     "    y = x_f32; x_i8 = 300\n"
     "               ^ (/formula)"},
    {"y = x_i8 + 300",
     "formula line 1: 300 does not fit i8 (-128 to 127): cast the other operand, or write i8(300) "
     "to wrap\n"
     "    y = x_i8 + 300\n"
     "             ^ (/formula)"},
    {"y = atan2(x_f32)",
     "formula line 1: 'atan2' takes 2 arguments, not 1\n"
     "    y = atan2(x_f32)\n"
     "        ^ (/formula)"},
    {"y = sign(x_f32, 1)",
     "formula line 1: 'sign' takes 1 argument, not 2\n"
     "    y = sign(x_f32, 1)\n"
     "        ^ (/formula)"},
};

TEST(Messages, SayWhatIsWrongAndWhatToWrite) {
  for (const Wrong& wrong : kWrong) {
    SCOPED_TRACE(wrong.formula);
    EXPECT_EQ(refusal(wrong.formula, scope_for(wrong.formula)), wrong.message);
  }
}

}  // namespace
}  // namespace tilejit::expr
