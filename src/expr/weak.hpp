#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "expr/program.hpp"

namespace tilejit::expr {

/// A fault in an operation. Thrown only inside src/expr: the checker adds the place in the text and
/// makes it an Error.
struct Fault {
  std::string message;
  std::optional<std::size_t> position = {};  ///< byte offset; unset: the operation's
};
[[noreturn]] inline void fault(std::string message) {
  throw Fault{std::move(message)};
}

/// Holds every i64 and every u64 value.
__extension__ using WideInt = __int128;

/// A value without a dtype: a literal, or an operation on literals alone. It takes the dtype of the
/// typed operand that it meets.
using Weak = std::variant<bool, WideInt, double>;

[[nodiscard]] bool is_true(const Weak& value) noexcept;  ///< != 0; NaN is true
[[nodiscard]] double to_double(const Weak& value) noexcept;
[[nodiscard]] std::string to_string(const Weak& value);

/// Operations on weak values alone: exact for integers, otherwise in double. `/ // % **` mean what
/// they mean in Python. Throw Fault for an overflow of 64 bits, a division by zero, or the wrong
/// kind of operand.
[[nodiscard]] Weak fold_unary(Op op, const Weak& a);
[[nodiscard]] Weak fold_binary(Op op, const Weak& a, const Weak& b);
/// A built-in function: exp, min (two operands), clamp, where, ...
[[nodiscard]] Weak fold_call(Op op, std::span<const Weak> args);

/// The integer of a decimal or hexadecimal literal; nothing if it exceeds 64 bits.
[[nodiscard]] std::optional<WideInt> parse_integer(std::string_view digits) noexcept;

/// `value` as a constant of `type`, converted as a cast converts it: integers wrap, floating values
/// are truncated or rounded once. For narrow floating types the result is a value of that type.
[[nodiscard]] Constant cast_weak(const Weak& value, DType type) noexcept;
/// `value` as an operand of `type`. Floating values keep the precision that `type` computes in, and
/// need a floating type. Throws Fault for an integer out of the range of `type`; its message
/// suggests `remedy` or a cast that wraps.
[[nodiscard]] Constant operand_constant(const Weak& value, DType type,
                                        std::string_view remedy = "cast the other operand");
/// The dtype of a weak value if nothing else decides: b8; i32, else i64, else u64; f32.
[[nodiscard]] DType default_type(const Weak& value) noexcept;

}  // namespace tilejit::expr
