#include "program/formula_text.hpp"

#include <charconv>
#include <span>

#include "expr/names.hpp"
#include "tilejit/error.hpp"

namespace tilejit::program {
namespace {

using expr::Reduction;
using expr::Token;
using Tokens = std::span<const Token>;

constexpr std::size_t kLongestValue = 65536;  // bytes, as of an expression in a program

expr::SourceText formula_source(std::string_view text) {
  return {.text = text, .title = "formula", .where = "/formula"};
}

[[noreturn]] void refuse_formula(const std::string& what) {
  throw Error(ErrorCode::unsupported, "no program for this formula: " + what);
}

/// The number of tokens from `tokens[0]`, a "(", to its ")".
std::size_t length_of_parentheses(Tokens tokens) {
  std::size_t open = 0, i = 0;
  do {
    if (tokens[i].is("(")) ++open;
    if (tokens[i].is(")")) --open;
    ++i;
  } while (open > 0);
  return i;
}

/// What lies between the commas of `inside`.
std::vector<Tokens> arguments_of(Tokens inside) {
  std::vector<Tokens> arguments;
  std::size_t begin = 0, open = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i].is("(")) ++open;
    if (inside[i].is(")")) --open;
    if (open > 0 || !inside[i].is(",")) continue;
    arguments.push_back(inside.subspan(begin, i - begin));
    begin = i + 1;
  }
  if (begin < inside.size()) arguments.push_back(inside.subspan(begin));
  return arguments;
}

bool is_keyword(Tokens argument) {
  return argument.size() > 2 && argument[1].is("=");
}

/// The reduction that is called at `tokens[0]`; null for `max(a, b)` and everything else.
const Reduction* reduction_at(Tokens tokens) {
  if (tokens.size() < 2 || tokens[0].kind != Token::Kind::name || !tokens[1].is("("))
    return nullptr;
  const Reduction* const reduction = expr::find_reduction(tokens[0].text);
  if (reduction == nullptr) return nullptr;
  const auto arguments =
      arguments_of(tokens.subspan(2, length_of_parentheses(tokens.subspan(1)) - 2));
  return arguments.size() > 1 && !is_keyword(arguments[1]) ? nullptr : reduction;
}

bool is_called(Tokens tokens, std::string_view name) {
  return tokens.size() > 1 && tokens[0].is(name) && tokens[1].is("(");
}

bool is_scan(Tokens tokens) {
  return tokens.size() > 1 && tokens[1].is("(") && tokens[0].kind == Token::Kind::name &&
         expr::find_scan(tokens[0].text) != nullptr;
}

class Rewriter {
 public:
  Rewriter(const SpaceText& space, bool& uses_zero) : space_(space), uses_zero_(uses_zero) {}

  std::string run(Tokens tokens) {
    std::string text;
    for (std::size_t i = 0; i < tokens.size();) {
      const Tokens rest = tokens.subspan(i);
      if (!text.empty()) text += ' ';
      const std::size_t taken = call(rest, text);
      if (taken == 0) text += tokens[i].text;
      i += taken == 0 ? 1 : taken;
    }
    return text;
  }

  /// Whether the value may differ along the last axis.
  [[nodiscard]] bool varies(Tokens tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (reduction_at(tokens.subspan(i)) != nullptr) {
        i += length_of_parentheses(tokens.subspan(i + 1));
      } else if (is_called(tokens.subspan(i), "iota") || space_.varying.contains(tokens[i].text)) {
        return true;
      }
    }
    return false;
  }

 private:
  /// Appends the call at the beginning of `tokens`, if it depends on the space: the tokens it
  /// takes.
  std::size_t call(Tokens tokens, std::string& text) {
    const bool is_iota = is_called(tokens, "iota"), is_extent = is_called(tokens, "extent");
    if (is_scan(tokens))
      refuse_formula("it has a scan, " + std::string(tokens[0].text) + "; write the program");
    const Reduction* const reduction = reduction_at(tokens);
    if (!is_iota && !is_extent && reduction == nullptr) return 0;
    const std::size_t length = length_of_parentheses(tokens.subspan(1));
    const Tokens inside = tokens.subspan(2, length - 2);
    if (is_iota) {
      text += coordinate(axes_of(inside).front());
    } else if (is_extent) {
      text += extent(axes_of(inside));
    } else {
      text += reduced(*reduction, tokens[0].text, arguments_of(inside));
    }
    return length + 1;
  }

  /// The axes of "1", "-1" or "(0, -1)".
  [[nodiscard]] std::vector<std::size_t> axes_of(Tokens tokens) const {
    std::vector<std::size_t> axes;
    bool negative = false;
    for (const Token& token : tokens) {
      if (token.is("-")) negative = true;
      if (token.kind != Token::Kind::integer) continue;
      std::size_t axis = 0;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), axis);
      axes.push_back(negative ? space_.axes.size() - axis : axis);
      negative = false;
    }
    return axes;
  }

  std::string coordinate(std::size_t axis) {
    uses_zero_ = true;
    const std::string& origin = space_.axes[axis].origin;
    return "(" + space_.zero + " + " + (origin == "0" ? "" : origin + " + ") + "iota(" +
           std::to_string(axis) + "))";
  }

  [[nodiscard]] std::string extent(const std::vector<std::size_t>& axes) const {
    std::string product;
    for (const std::size_t axis : axes)
      product += (product.empty() ? "" : " * ") + space_.axes[axis].extent;
    return "cast(" + product + ", i64)";
  }

  [[nodiscard]] std::string last_axis() const { return std::to_string(space_.axes.size() - 1); }

  /// `value`, and `neutral` where there is no element. It has the tile's extent along the last
  /// axis.
  std::string inside(const std::string& value, const char* neutral) {
    uses_zero_ = true;
    const std::string elements = space_.is_ragged ? space_.zero + " + iota(" + last_axis() +
                                                        ") < " + space_.axes.back().extent
                                                  : space_.zero + " == 0";
    return "where(" + elements + ", " + value + ", " + neutral + ")";
  }

  std::string reduced(const Reduction& reduction, std::string_view name,
                      const std::vector<Tokens>& arguments) {
    std::string keywords = ", axis=" + last_axis();
    for (const Tokens argument : std::span(arguments).subspan(1)) {
      if (argument[0].is("axis")) {
        if (axes_of(argument.subspan(2)) != std::vector<std::size_t>{space_.axes.size() - 1})
          refuse_formula(
              "it reduces along other axes than the last; write the program, or swap the axes");
      } else {
        keywords += ", " + run(argument);
      }
    }
    const std::string value = run(arguments[0]);
    // A variance has its argument three times.
    if (value.size() > kLongestValue) refuse_formula("it becomes too long; give parts of it names");
    const bool plain = !space_.is_ragged && varies(arguments[0]);
    const auto call = [&](const std::string& function, const std::string& of) {
      return function + "(" + of + keywords + ")";
    };
    switch (reduction.kind) {
      case Reduction::Kind::sum: return call("sum", plain ? value : inside(value, "0"));
      case Reduction::Kind::prod: return call("prod", plain ? value : inside(value, "1"));
      case Reduction::Kind::any: return call("any", plain ? value : inside(value, "0"));
      case Reduction::Kind::all: return call("all", plain ? value : inside(value, "1"));
      case Reduction::Kind::mean: return plain ? call("mean", value) : mean(value);
      case Reduction::Kind::var: {
        if (plain) return call("var", value);
        return mean("((" + value + ") - " + mean(value) + ") ** 2");
      }
      default: break;
    }
    if (!space_.is_ragged) return call(std::string(name), value);
    if (space_.has_integers) {
      refuse_formula(
          "it compares integers along an axis whose extent is not known; give the extent a number");
    }
    const bool least =
        reduction.kind == Reduction::Kind::min || reduction.kind == Reduction::Kind::argmin;
    return call(std::string(name), inside(value, least ? "inf" : "-inf"));
  }

  std::string mean(const std::string& value) {
    return "(sum(" + inside(value, "0") + ", axis=" + last_axis() + ") / cast(" +
           space_.axes.back().extent + ", f32))";
  }

  const SpaceText& space_;
  bool& uses_zero_;
};

template <typename Is>
bool any_call(std::string_view text, const Is& is) {
  const std::vector<Token> tokens = expr::tokenize(formula_source(text));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is(Tokens(tokens).subspan(i))) return true;
  }
  return false;
}

}  // namespace

RewrittenFormula rewritten(std::string_view formula, SpaceText& space) {
  const std::vector<Token> tokens = expr::tokenize(formula_source(formula));
  RewrittenFormula result;
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    while (tokens[end].kind != Token::Kind::separator && tokens[end].kind != Token::Kind::end)
      ++end;
    const Tokens line = Tokens(tokens).subspan(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    const Tokens value = line.subspan(2);
    Rewriter rewriter(space, result.uses_zero);
    std::string text;
    for (const Token& token : line)
      text += std::string(text.empty() ? "" : " ") + std::string(token.text);
    result.lines.push_back({std::string(line[0].text), rewriter.run(value), std::move(text)});
    if (rewriter.varies(value)) space.varying.insert(result.lines.back().name);
  }
  return result;
}

bool depends_on_space(std::string_view expression) {
  return any_call(expression, [](Tokens tokens) {
    return reduction_at(tokens) != nullptr || is_scan(tokens) || is_called(tokens, "iota") ||
           is_called(tokens, "extent");
  });
}

bool calls_reduction(std::string_view formula) {
  return any_call(formula, [](Tokens tokens) { return reduction_at(tokens) != nullptr; });
}

}  // namespace tilejit::program
