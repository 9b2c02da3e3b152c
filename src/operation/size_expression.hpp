#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::operation {

/// An expression over sizes: integers and names with + - * // %, ceil_div(a,b), min(a,b) and
/// max(a,b). `//` and `%` round down. A value.
class SizeExpression {
 public:
  SizeExpression(std::int64_t value = 0);  // NOLINT(google-explicit-constructor): as in launches
  /// Throws Error{invalid_spec}, where() `where`, with a caret below the fault.
  [[nodiscard]] static SizeExpression parse(std::string_view text, const std::string& where);

  /// The names in it, each once, in the order of their first use.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] bool is_known() const noexcept { return names_.empty(); }
  /// As written.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The same expression with these names replaced by their values. The text stays.
  [[nodiscard]] SizeExpression with(const std::map<std::string, std::int64_t>& values) const;
  /// The value; `values` has one for each of `names()`. Throws Error{invalid_argument} for a
  /// division by zero, Error{unsupported} beyond 64 bits.
  [[nodiscard]] std::int64_t evaluate(std::span<const std::int64_t> values = {}) const;

  bool operator==(const SizeExpression&) const = default;

 private:
  enum class Op : std::uint8_t { number, name, add, sub, mul, div, mod, ceil_div, min, max };
  /// An operand is pushed; an operator takes two values off the stack and pushes its result.
  struct Item {
    Op op = Op::number;
    std::int64_t value = 0;  // the number, or the index of the name
    bool operator==(const Item&) const = default;
  };
  class Parser;
  static constexpr std::size_t kMostItems = 256;

  [[nodiscard]] std::int64_t apply(Op op, std::int64_t a, std::int64_t b) const;

  std::vector<Item> items_;
  std::vector<std::string> names_;
  std::string text_;
};

}  // namespace tilejit::operation
