// The header of a TL text.
#include <utility>

#include "expr/message.hpp"
#include "program/tl_reader.hpp"

namespace tilejit::program {
namespace {

std::string without_blanks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ') result += c;
  }
  return result;
}

}  // namespace

std::optional<std::string> HeaderReader::line() {
  if (at_.accept("Kernel")) return kernel();
  if (at_.accept("Symbol")) return symbols();
  if (at_.accept("Tensor")) return tensor();
  if (at_.accept("Scalar")) return scalar();
  if (at_.accept("Constant")) return constants();
  if (at_.accept("Function")) return function();
  if (at_.accept("Grid")) {
    program_.launch.grid = at_.list("the number of blocks");
    return "Grid";
  }
  if (at_.accept("Block")) {
    program_.launch.block = at_.list("the number of threads");
    return "Block";
  }
  if (at_.accept("Launch")) return launch();
  if (at_.accept("Tune")) return values(program_.tune, "Tune");
  if (at_.accept("Sweep")) return values(program_.sweep, "Sweep");
  if (at_.accept("Verify")) return verify();
  return std::nullopt;
}

std::string HeaderReader::kernel() {
  program_.name = at_.name("the kernel's name");
  return "Kernel";
}

std::string HeaderReader::symbols() {
  do {
    Symbol symbol{.name = at_.name("a symbol")};
    for (;;) {
      if (at_.accept("divisible_by")) {
        symbol.divisible_by = at_.integer("a divisor");
      } else if (at_.accept("example")) {
        const Number example = at_.number("an example");
        if (!example.is_integer()) at_.fail("the example of a symbol is an integer");
        symbol.example = example.bits();
      } else {
        break;
      }
    }
    program_.symbols.push_back(std::move(symbol));
  } while (at_.accept(","));
  return "Symbol " + program_.symbols.back().name;
}

Layout HeaderReader::tensor_layout() {
  const std::size_t begin = at_.peek().position;
  try {
    if (at_.accept("layout")) return parse_layout(at_.string("a layout"));
    if (!at_.at("[")) at_.fail("expected the tensor's shape, as in [M, 64], found " + at_.found());
    IntTuple shape = IntTuple::empty_tuple();
    const std::vector<TileExpression> extents = at_.list("an extent");
    if (extents.empty()) return Layout();
    for (const TileExpression& extent : extents) {
      shape.append(parse_dim(without_blanks(extent.text())));
    }
    if (!at_.accept("stride")) return row_major(shape);
    IntTuple stride = IntTuple::empty_tuple();
    for (const TileExpression& one : at_.list("a stride")) {
      stride.append(parse_dim(without_blanks(one.text())));
    }
    return {shape, stride};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_formula) throw;
    at_.fail_at(begin, error.what());
  }
}

std::string HeaderReader::tensor() {
  Tensor tensor{.name = at_.name("a tensor's name")};
  at_.expect(":", "and a dtype after the tensor's name");
  tensor.dtype = at_.dtype();
  tensor.layout = tensor_layout();
  while (!at_.at_line_end()) {
    if (at_.accept("in")) {
      tensor.access = Access::in;
    } else if (at_.accept("out")) {
      tensor.access = Access::out;
    } else if (at_.accept("inout")) {
      tensor.access = Access::inout;
    } else if (at_.accept("align")) {
      tensor.align = at_.integer("bytes");
    } else if (at_.accept("zeroed")) {
      program_.zeroed.push_back(tensor.name);
    } else {
      at_.fail("expected in, out, inout, zeroed or align, found " + at_.found());
    }
  }
  program_.tensors.push_back(std::move(tensor));
  return "Tensor " + program_.tensors.back().name;
}

std::string HeaderReader::scalar() {
  Scalar scalar{.name = at_.name("a scalar's name")};
  at_.expect(":", "and a dtype after the scalar's name");
  scalar.dtype = at_.dtype();
  if (at_.accept("example")) scalar.example = at_.number("an example");
  program_.scalars.push_back(std::move(scalar));
  return "Scalar " + program_.scalars.back().name;
}

std::string HeaderReader::constants() {
  do {
    TileConstant constant{.name = at_.name("a constant's name")};
    at_.expect("=", "after the constant's name");
    constant.value = at_.number("the constant's value");
    program_.constants.push_back(std::move(constant));
  } while (at_.accept(","));
  return "Constant " + program_.constants.back().name;
}

std::string HeaderReader::function() {
  Function function{.name = at_.name("a function's name")};
  at_.expect("(", "after the function's name");
  if (!at_.at(")")) {
    do {
      function.args.push_back(at_.name("an argument"));
    } while (at_.accept(","));
  }
  at_.expect(")", "after the arguments");
  at_.expect("=", "and what the function computes");
  function.expr = at_.expression("what the function computes").text();
  program_.functions.push_back(std::move(function));
  return "Function " + program_.functions.back().name;
}

std::string HeaderReader::launch() {
  do {
    if (at_.accept("cluster")) {
      at_.expect("=", "after 'cluster'");
      program_.launch.cluster =
          at_.expression("the number of blocks", {"min_blocks", "order", "cluster"});
    } else if (at_.accept("min_blocks")) {
      at_.expect("=", "after 'min_blocks'");
      program_.launch.min_blocks = at_.integer("a number of blocks");
    } else if (at_.accept("order")) {
      at_.expect("=", "after 'order'");
      program_.launch.order = at_.string("\"row\", \"column\" or \"swizzle:8\"");
    } else {
      at_.fail("expected cluster=, min_blocks= or order=, found " + at_.found() +
               "; threads are given by Block (256)");
    }
  } while (!at_.at_line_end());
  return "Launch";
}

std::string HeaderReader::values(std::vector<TileValues>& list, const std::string& word) {
  TileValues values{.name = at_.name("a constant")};
  at_.expect("in", "and the values, as in '" + word + " BM in (64, 128)'");
  at_.expect("(", "and the values");
  do {
    values.values.push_back(at_.number("a value"));
  } while (at_.accept(","));
  at_.expect(")", "after the values");
  list.push_back(std::move(values));
  return word + ' ' + list.back().name;
}

std::string HeaderReader::verify() {
  const std::size_t begin = at_.peek().position;
  const std::string name = at_.name("the name of an output");
  at_.expect("=", "after " + expr::quoted(name));
  const TileExpression value = at_.expression("a formula");
  program_.verify.emplace_back(name + " = " + value.text(), TilePlace{begin, at_.last_end()});
  return "Verify " + std::to_string(program_.verify.size());
}

}  // namespace tilejit::program
