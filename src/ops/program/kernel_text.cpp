#include "program/kernel_text.hpp"

#include <algorithm>
#include <initializer_list>

#include "expr/program.hpp"

namespace tilejit::program {

std::string known_text(const expr::Weak& value, DType type) {
  return expr::emit_constant(expr::cast_weak(value, type), type);
}

std::string stored_text(const std::string& value, DType type) {
  // A float narrows to types of floats only; other values have their type already.
  return "store_as<" + std::string(expr::storage_type(type)) + ">(" +
         std::string(expr::compute_type(type)) + "(" + value + "))";
}

std::string least_text(DType type) {
  const int bits = 8 * size_bytes(type);
  const std::string name(expr::compute_type(type));
  const bool is_signed = type == i8 || type == i16 || type == i32 || type == i64;
  if (!is_signed) return name + "(0)";
  return name + "(1ull << " + std::to_string(bits - 1) + ")";
}

std::string greatest_text(DType type) {
  const int bits = 8 * size_bytes(type);
  const std::string name(expr::compute_type(type));
  const bool is_signed = type == i8 || type == i16 || type == i32 || type == i64;
  return name + "(~0ull >> " + std::to_string(64 - bits + (is_signed ? 1 : 0)) + ")";
}

std::string printed_text(std::string_view bytes) {
  std::string text;
  for (const char one : bytes) {
    const auto byte = static_cast<unsigned char>(one);
    const bool plain = (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
                       (one >= '0' && one <= '9') ||
                       std::string_view(" .,:;=+-*/()[]<>_!").find(one) != std::string_view::npos;
    if (one == '%') {
      text += "%%";
    } else if (plain) {
      text += one;
    } else {  // three octal digits, so that no digit after it belongs to it
      text += {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
               static_cast<char>('0' + byte % 8)};
    }
  }
  return text;
}

void add_function_headers(std::string_view text, std::set<std::string>& headers) {
  const auto calls = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return text.find("math::" + std::string(name)) != text.npos;
    });
  };
  const bool computes =
      calls({"add(", "sub(", "mul(", "neg(", "abs(", "pow(", "shl(", "shr(", "mod(", "floor_div("});
  const bool converts = calls({"truncate<", "round_odd("});
  if (calls({"inf_", "nan_", "min(", "max(", "relu(", "clamp("})) headers.insert("math");
  if (computes) headers.insert("integers");
  if (converts) headers.insert("convert");
  if (calls({"sigmoid(", "silu(", "gelu(", "gelu_tanh("})) headers.insert("activations");
  if (calls({"fast_"})) headers.insert("approximations");
  if (calls({"div_by_whole(", "div_of_zeros(", "div_from_one(", "root_of_normal(",
             "rsqrt_of_normal("}))
    headers.insert("division");
  if (calls({"sin(", "cos(", "tan(", "sin_of_", "cos_of_", "tan_of_"}))
    headers.insert("trigonometry");
}

}  // namespace tilejit::program
