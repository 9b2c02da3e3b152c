// Statements of a TL text.
#include <utility>

#include "core/suggestion.hpp"
#include "expr/message.hpp"
#include "program/tl_reader.hpp"

namespace tilejit::program {
namespace {

using expr::Token;

constexpr std::string_view kStatements[] = {"Allocate", "Copy",   "Compute", "Let",
                                            "Reshape",  "for",    "while",   "if",
                                            "Print",    "Assert", "Atomic",  "Barrier"};

std::string in_order(const std::string& clause) {
  return "after " + clause;
}

}  // namespace

TileStatement StatementReader::statement() {
  if (++statements_ > kMostStatements) {
    at_.fail("a program has at most 10000 statements; use loops, or several programs");
  }
  const std::size_t begin = begin_ = at_.peek().position;
  const auto made = [&](TileStatement::Kind kind) {
    return TileStatement{.kind = std::move(kind),
                         .comment = std::exchange(opening_comment_, {}),
                         .place = {begin, at_.last_end()}};
  };
  if (at_.accept("Allocate")) return made(allocate());
  if (at_.accept("Copy")) return made(copy());
  if (at_.accept("Compute")) return made(compute());
  if (at_.accept("Let")) {
    std::string name = at_.name("a name");
    at_.expect("=", "after " + expr::quoted(name));
    return made(TileLet{std::move(name), at_.expression("a value")});
  }
  if (at_.accept("Reshape")) return made(reshape());
  if (at_.accept("for")) return made(loop());
  if (at_.accept("while")) return made(while_loop());
  if (at_.accept("if")) return made(branch());
  if (at_.accept("Print")) return made(print());
  if (at_.accept("Assert")) return made(assertion());
  if (at_.accept("Atomic")) return made(atomic());
  if (at_.accept("Barrier")) return made(TileBarrier{});
  if (at_.at("end") || at_.at("else")) {
    at_.fail("this " + at_.found() + " closes nothing; remove it, or the 'end' before it");
  }
  at_.fail("expected a statement, found " + at_.found() +
           core::did_you_mean(core::nearest_name(at_.peek().text, kStatements)));
}

TileBody StatementReader::body(std::initializer_list<std::string_view> ends,
                               std::string_view opened, std::size_t position) {
  if (++levels_ > kMostLevels) at_.fail("loops and branches nest at most 64 levels deep");
  TileBody body;
  for (;;) {
    while (at_.peek().kind == Token::Kind::separator) at_.take();
    if (at_.at_comment()) {
      body.push_back({.kind = TileComment{at_.take_comment()}});
      continue;
    }
    if (std::ranges::any_of(ends, [&](std::string_view word) { return at_.at(word); })) break;
    if (at_.peek().kind == Token::Kind::end) {
      at_.fail_at(position, "this '" + std::string(opened) + "' has no 'end'");
    }
    body.push_back(statement());
    if (!at_.at_line_end()) at_.fail("expected the end of the line, found " + at_.found());
    if (at_.at_comment()) body.back().comment = at_.take_comment();
  }
  --levels_;
  return body;
}

TileAllocate StatementReader::allocate() {
  TileAllocate made{.name = at_.name("the name of a tile")};
  at_.expect(
      "in", "after " + expr::quoted(made.name) + ", as in 'Allocate C in register (64, 64) : f32'");
  made.space = at_.word(kSpaces, "a space");
  (void)at_.accept("memory");
  made.shape = at_.list("an extent");
  if (at_.accept(":")) made.dtype = at_.dtype();
  if (at_.accept("=")) {
    made.init = at_.expression("the value of all elements", {"with", "stride", "layout"});
  }
  while (!at_.at_line_end()) {
    if (at_.accept("with")) {
      at_.expect("offset", "after 'with'");
      made.offset = at_.expression("an offset in elements", {"stride", "layout", "with"});
    } else if (at_.accept("stride")) {
      made.stride = at_.list("a stride");
    } else if (at_.accept("layout")) {
      const std::size_t position = at_.peek().position;
      try {
        made.layout = parse_composed_layout(at_.string("a layout"));
      } catch (const Error& error) {
        if (error.code() == ErrorCode::invalid_formula) throw;
        at_.fail_at(position, error.what());
      }
    } else {
      at_.fail(
          "expected a dtype after ':', a value after '=', 'with offset', 'stride' or 'layout', "
          "found " +
          at_.found());
    }
  }
  return made;
}

TileIndex StatementReader::index() {
  TileIndex index;
  if (at_.accept("at")) {
    index.kind = TileIndex::Kind::element;
    index.at = at_.list("an index");
    return index;
  }
  if (!at_.accept("in")) return index;
  if (at_.accept("indices")) {
    index.kind = TileIndex::Kind::gather;
    index.at = at_.list("an index");
    return index;
  }
  at_.expect("coordinate", "or 'indices' after 'in'");
  if (at_.at("[") && at_.peek(1).is("L") && at_.peek(2).is("=")) {
    index.kind = TileIndex::Kind::linear;
    for (int i = 0; i < 3; ++i) at_.take();
    index.at.push_back(at_.expression("the number of a tile"));
    at_.expect("]", "after the number of a tile");
    return index;
  }
  index.kind = TileIndex::Kind::tile;
  if (!at_.at("[")) at_.fail("expected '[' after 'coordinate', found " + at_.found());
  index.at = at_.list("the number of a tile");
  return index;
}

TileCopy StatementReader::copy() {
  TileCopy copy{.name = at_.name("what is copied")};
  if (at_.at("(")) copy.tile = at_.list("an extent of the tile");
  copy.index = index();
  at_.expect("from", in_order("what is copied"));
  copy.from = at_.word(kSpaces, "a space");
  (void)at_.accept("memory");
  at_.expect("to", in_order("the space that is copied from"));
  copy.to = at_.word(kSpaces, "a space");
  (void)at_.accept("memory");
  copy_clauses(copy);
  return copy;
}

void StatementReader::copy_clauses(TileCopy& copy) {
  while (!at_.at_line_end()) {
    if (at_.accept("as")) {
      copy.as = at_.name("a name");
    } else if (at_.accept("pad")) {
      copy.pad = at_.word(kPads, "a pad");
    } else if (at_.accept("order")) {
      copy.order = at_.integers("an axis");
    } else if (at_.accept("mask")) {
      copy.mask = at_.expression("a condition", {"as", "pad", "order", "tv"});
    } else if (at_.accept("tv")) {
      const std::size_t position = at_.peek().position;
      try {
        const Layout thr = parse_layout(at_.string("the layout of threads"));
        copy.tv = ThreadValueLayouts{thr, parse_layout(at_.string("the layout of values"))};
      } catch (const Error& error) {
        if (error.code() == ErrorCode::invalid_formula) throw;
        at_.fail_at(position, error.what());
      }
    } else {
      at_.fail("expected as, pad, order, mask or tv, found " + at_.found());
    }
  }
}

TileStatement::Kind StatementReader::compute() {
  if (at_.accept("GEMM")) return gemm();
  if (const auto kind = find_word(kReduceStatements, at_.peek().text)) {
    at_.take();
    return reduce(*kind);
  }
  if (const auto kind = find_word(kScanStatements, at_.peek().text)) {
    at_.take();
    return scan(*kind);
  }
  std::string name = at_.name("a name or a function");
  if (at_.accept("="))
    return TileCompute{.out = std::move(name), .value = at_.expression("a value")};
  return called(std::move(name));
}

/// "Q" or "K.T".
std::pair<std::string, bool> StatementReader::operand() {
  const Token& token = at_.peek();
  if (token.kind == Token::Kind::name && token.text.ends_with(".T") &&
      token.text.find('.') == token.text.size() - 2) {
    at_.take();
    return {std::string(token.text.substr(0, token.text.size() - 2)), true};
  }
  return {at_.name("a tile, or its transpose such as K.T"), false};
}

TileGemm StatementReader::gemm() {
  TileGemm gemm;
  const bool named_first = at_.peek(1).is("=");
  if (named_first) {
    gemm.out = at_.name("a tile");
    at_.take();
  }
  std::tie(gemm.a, gemm.a_transposed) = operand();
  at_.expect(",", "between the operands of GEMM");
  std::tie(gemm.b, gemm.b_transposed) = operand();
  if (named_first) return gemm;
  if (!at_.accept("and")) {
    at_.fail("expected 'and get' or 'and accumulate' after the operands of GEMM, found " +
             at_.found());
  }
  gemm.accumulate = at_.accept("accumulate");
  if (!gemm.accumulate) at_.expect("get", "or 'accumulate' after 'and'");
  gemm.out = at_.name("the tile of the result");
  return gemm;
}

std::string StatementReader::result() {
  if (!at_.accept("and")) {
    at_.fail("expected 'and get' and the name of the result, found " + at_.found());
  }
  at_.expect("get", "after 'and'");
  (void)at_.accept("new");
  return at_.name("the name of the result");
}

TileStatement::Kind StatementReader::reduce(TileReduce::Kind kind) {
  TileReduce reduce{.kind = kind, .name = at_.name("a tile"), .out = {}};
  for (;;) {
    if (at_.accept("axis")) {
      reduce.axes = at_.integers("an axis");
    } else if (at_.accept("init")) {
      reduce.init = at_.expression("a value", {"axis", "keepdims"});
    } else if (at_.accept("keepdims")) {
      reduce.keepdims = !at_.accept("false");
      if (reduce.keepdims) at_.expect("true", "or 'false' after 'keepdims'");
    } else {
      break;
    }
  }
  reduce.out = result();
  return reduce;
}

TileStatement::Kind StatementReader::scan(TileScan::Kind kind) {
  TileScan scan{.kind = kind, .name = at_.name("a tile"), .out = {}};
  for (;;) {
    if (at_.accept("axis")) {
      scan.axis = at_.integer("an axis");
    } else if (at_.accept("exclusive")) {
      scan.exclusive = true;
    } else if (at_.accept("reverse")) {
      scan.reverse = true;
    } else {
      break;
    }
  }
  scan.out = result();
  return scan;
}

TileCompute StatementReader::called(std::string function) {
  TileCompute call{.function = std::move(function)};
  const std::size_t begin = at_.peek().position;
  do {
    call.arguments.push_back(at_.expression("an argument"));
  } while (at_.accept(","));
  if (at_.at("and")) {
    call.out = result();
    return call;
  }
  call.out = call.arguments.front().text();
  if (call.out.find_first_of(" (.") != std::string::npos) {
    at_.fail_at(begin,
                "the result goes to the first argument, which is no tile; write 'and get' "
                "and a name");
  }
  return call;
}

TileFor StatementReader::loop() {
  const std::size_t position = begin_;
  TileFor loop;
  loop.name = at_.name("a name");
  if (!at_.accept("in")) at_.expect("=", "after " + expr::quoted(loop.name));
  loop.begin = at_.expression("where the loop begins");
  at_.expect(":", "and where the loop ends");
  loop.end = at_.expression("where the loop ends", {"step", "stages", "unroll"});
  for (;;) {
    if (at_.accept("step")) {
      loop.step = at_.expression("a step", {"stages", "unroll"});
    } else if (at_.accept("stages")) {
      loop.stages = at_.integer("a number of stages");
    } else if (at_.accept("unroll")) {
      loop.unroll = at_.integer("a number of steps");
    } else {
      break;
    }
  }
  (void)at_.accept(":");
  if (!at_.at_line_end()) {
    at_.fail("expected step, stages, unroll or the end of the line, found " + at_.found());
  }
  std::string comment = at_.take_comment();
  loop.body = body({"end"}, "for", position);
  at_.take();
  opening_comment_ = std::move(comment);
  return loop;
}

TileWhile StatementReader::while_loop() {
  const std::size_t position = begin_;
  TileWhile loop;
  loop.condition = at_.expression("a condition");
  if (!at_.at_line_end()) at_.fail("expected the end of the line, found " + at_.found());
  std::string comment = at_.take_comment();
  loop.body = body({"end"}, "while", position);
  at_.take();
  opening_comment_ = std::move(comment);
  return loop;
}

TileIf StatementReader::branch() {
  const std::size_t position = begin_;
  TileIf branch;
  branch.condition = at_.expression("a condition");
  if (!at_.at_line_end()) at_.fail("expected the end of the line, found " + at_.found());
  std::string comment = at_.take_comment();
  branch.then = body({"end", "else"}, "if", position);
  if (at_.take().is("else")) {
    if (at_.at("if"))
      at_.fail("write 'else' and 'if' on lines of their own, and an 'end' for each");
    branch.otherwise = body({"end"}, "else", position);
    at_.take();
  }
  opening_comment_ = std::move(comment);
  return branch;
}

TileAtomic StatementReader::atomic() {
  TileAtomic atomic{.kind = at_.word(kAtomics, "an operation"), .name = at_.name("a tile")};
  if (at_.at("(")) atomic.tile = at_.list("an extent of the tile");
  atomic.index = index();
  at_.expect("as", "and the tensor after the place");
  atomic.as = at_.name("a tensor");
  if (at_.at("and")) atomic.out = result();
  return atomic;
}

TilePrint StatementReader::print() {
  TilePrint print{.text = at_.string("a text")};
  while (at_.accept(",")) print.arguments.push_back(at_.expression("a value"));
  return print;
}

TileAssert StatementReader::assertion() {
  TileAssert assertion{.condition = at_.expression("a condition")};
  if (at_.accept(",")) assertion.message = at_.string("a message");
  return assertion;
}

}  // namespace tilejit::program
