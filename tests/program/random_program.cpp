#include "program/random_program.hpp"

#include <iterator>

namespace tilejit::program {
namespace {

const std::vector<std::string> kNames = {"A", "B", "acc", "m", "k0", "tile_1", "S", "x", "block_N"};

}  // namespace

std::string RandomProgram::name() {
  return one_of(kNames);
}

std::string RandomProgram::text() {
  return one_of<std::string>({"", "hello", "x = {}", "two\nlines", "a \"quoted\" word",
                              "back\\slash", "tab\there", "\xc3\xa9\xe2\x82\xac # no comment"});
}

TileExpression RandomProgram::expression(int depth) {
  if (depth == 0 || chance(30)) {
    switch (below(6)) {
      case 0: return below(1000);
      case 1: return one_of<std::string>({"1.5", "1e-3", "inf", "nan", "pi", "true", "0x1f"});
      case 2: return one_of<std::string>({"block_idx.x", "thread_idx.y", "grid_dim.z", "tid"});
      case 3: return "iota(" + std::to_string(below(3)) + ")";
      default: return name();
    }
  }
  const std::string a = expression(depth - 1).text();
  const std::string b = expression(depth - 1).text();
  switch (below(7)) {
    case 0: return "-(" + a + ")";
    case 1: return "where(" + a + " < (" + b + "), " + a + ", " + b + ")";
    case 2: return "cast(" + a + ", f16)";
    case 3: return "not (" + a + ") and (" + b + ")";
    case 4: return "ceil_div(" + a + "," + b + ")";
    case 5: return "sum(" + a + ",axis=1)";
    default:
      return "(" + a + ")" +
             one_of<std::string>({"+", " - ", "*", "/", "//", "%", " ** ", "<<", "&", "|", "^"}) +
             "(" + b + ")";
  }
}

std::vector<TileExpression> RandomProgram::expressions(int most) {
  std::vector<TileExpression> list;
  for (int i = 1 + below(most); i > 0; --i) list.push_back(expression());
  return list;
}

Number RandomProgram::number() {
  switch (below(5)) {
    case 0: return -below(100);
    case 1: return 0.25 * below(100);
    case 2: return std::uint64_t{18446744073709551615u};
    case 3: return 1e300;
    default: return below(4096);
  }
}

std::vector<int> RandomProgram::axes() {
  std::vector<int> list;
  for (int i = 1 + below(3); i > 0; --i) list.push_back(below(6) - 3);
  return list;
}

TileIndex RandomProgram::index() {
  using Kind = TileIndex::Kind;
  const auto kind = static_cast<Kind>(below(5));
  if (kind == Kind::none) return {};
  if (kind == Kind::linear) return {kind, {expression()}};
  return {kind, expressions()};
}

TileReshape RandomProgram::reshape() {
  using Kind = TileReshape::Kind;
  TileReshape made{.kind = static_cast<Kind>(below(7)), .name = name()};
  switch (made.kind) {
    case Kind::role:
      made.from = {"MMA_C", "MMA_M", "MMA_N"};
      made.to = {"MMA_A", "MMA_M", "MMA_N_new"};
      break;
    case Kind::shape:
    case Kind::broadcast: made.shape = expressions(); break;
    case Kind::permute: made.axes = axes(); break;
    case Kind::extract:
      if (chance(50)) {
        made.shape = expressions();
        made.at = expressions();
      } else {
        made.at = {"_", expression(), "_"};
      }
      break;
    case Kind::insert:
      made.source = name();
      made.at = expressions();
      break;
    case Kind::cat:
      made.others = {name(), name()};
      made.axis = below(4) - 2;
      break;
  }
  if (chance(50)) made.as = name();
  return made;
}

TileStatement::Kind RandomProgram::kind(int depth) {
  switch (below(depth > 0 ? 16 : 13)) {
    case 0: {
      TileAllocate made{.name = name(), .space = static_cast<TileSpace>(below(3))};
      made.shape = expressions();
      if (chance(70)) made.dtype = dtype();
      if (chance(50)) made.init = expression();
      if (chance(30)) made.offset = expression();
      if (chance(20)) made.stride = expressions();
      if (chance(20)) made.layout = parse_composed_layout("Sw<3,3,3> o 0 o (8,8):(8,1)");
      return made;
    }
    case 1:
    case 2: {
      TileCopy copy{.name = name(),
                    .from = static_cast<TileSpace>(below(3)),
                    .to = static_cast<TileSpace>(below(3))};
      if (chance(80)) copy.tile = expressions();
      copy.index = index();
      if (chance(40)) copy.as = name();
      copy.pad = static_cast<TilePad>(below(7));
      if (chance(20)) copy.order = axes();
      if (chance(20)) copy.mask = expression();
      if (chance(20)) {
        copy.tv = ThreadValueLayouts{parse_layout("(4,64):(64,1)"), parse_layout("(16,8):(8,1)")};
      }
      return copy;
    }
    case 3:
      return TileGemm{.a = name(),
                      .b = name(),
                      .out = name(),
                      .a_transposed = chance(50),
                      .b_transposed = chance(50),
                      .accumulate = chance(50)};
    case 4: return TileCompute{.out = name(), .value = expression(3)};
    case 5: return TileCompute{.out = name(), .function = "Multiply", .arguments = expressions()};
    case 6: {
      TileReduce reduce{
          .kind = static_cast<TileReduce::Kind>(below(9)), .name = name(), .out = name()};
      if (chance(80)) reduce.axes = axes();
      if (chance(30)) reduce.init = expression();
      reduce.keepdims = chance(70);
      return reduce;
    }
    case 7:
      return TileScan{.kind = static_cast<TileScan::Kind>(below(4)),
                      .name = name(),
                      .axis = below(4) - 2,
                      .out = name(),
                      .exclusive = chance(50),
                      .reverse = chance(50)};
    case 8: return reshape();
    case 9: return TileLet{name(), expression()};
    case 10: {
      TileAtomic atomic{.kind = static_cast<TileAtomic::Kind>(below(7)), .name = name()};
      if (chance(80)) atomic.tile = expressions();
      atomic.index = index();
      atomic.as = name();
      if (chance(30)) atomic.out = name();
      return atomic;
    }
    case 11: return TilePrint{text(), chance(50) ? expressions() : std::vector<TileExpression>()};
    case 12:
      if (chance(30)) return TileBarrier{};
      if (chance(30)) return TileComment{one_of<std::string>({"", "a line", "two  # signs"})};
      return TileAssert{expression(), text()};
    case 13: {
      TileFor loop;
      loop.name = name();
      loop.begin = expression();
      loop.end = expression();
      if (chance(30)) loop.step = expression();
      if (chance(40)) loop.stages = 1 + below(4);
      if (chance(20)) loop.unroll = 1 + below(4);
      loop.body = body(depth - 1);
      return loop;
    }
    case 14: return TileWhile{expression(), body(depth - 1)};
    default: {
      TileIf branch;
      branch.condition = expression();
      branch.then = body(depth - 1);
      if (chance(50)) branch.otherwise = body(depth - 1);
      return branch;
    }
  }
}

TileStatement RandomProgram::statement(int depth) {
  TileStatement made{.kind = kind(depth)};
  const bool is_comment = std::holds_alternative<TileComment>(made.kind);
  if (!is_comment && chance(15)) made.comment = "why it is so";
  return made;
}

TileBody RandomProgram::body(int depth) {
  TileBody body;
  for (int i = below(6); i > 0; --i) body.push_back(statement(depth));
  return body;
}

TileProgram RandomProgram::make() {
  TileProgram program{.name = "random_1"};
  if (chance(50))
    program.symbols = {{.name = "M"}, {.name = "N", .divisible_by = 8, .example = 64}};
  for (const char* tensor : {"A", "B", "C"}) {
    const std::vector<Layout> layouts = {"(M,N):(N,1)",          "(M,N):(1,M)", "64:1",
                                         "((4,8),M):((1,4),32)", "(8*M):(1)",   "1:0"};
    program.tensors.push_back({.name = tensor,
                               .dtype = dtype(),
                               .layout = one_of(layouts),
                               .access = static_cast<Access>(below(4)),
                               .align = chance(70) ? 16 : 8});
  }
  if (chance(50))
    program.scalars = {{.name = "alpha", .dtype = f32},
                       {.name = "n", .dtype = i64, .example = number()}};
  if (chance(70)) program.constants = {{"BM", 64}, {"eps", number()}};
  if (chance(20)) program.sweep = {{"T", {64, 128}}};
  if (chance(20)) program.tune = {{"BM", {32, number()}}};
  if (chance(30)) program.functions = {{"f", {"a", "b"}, "where(a>b,a,b)"}, {"one", {}, "1"}};
  if (chance(20)) program.zeroed = {"C"};
  if (chance(60)) program.launch.grid = expressions();
  if (chance(40)) program.launch.block = {128, 2};
  if (chance(20)) program.launch.cluster = 2;
  if (chance(20)) program.launch.min_blocks = 3;
  if (chance(20)) program.launch.order = "swizzle:8";
  if (chance(30)) program.verify = {"C = A + B", "B=A*2"};
  if (chance(30)) {
    program.notes = {{"Kernel", "what it is", chance(50)}, {"Tensor A", "an input", chance(50)}};
  }
  program.body = body(3);
  return program;
}

}  // namespace tilejit::program
