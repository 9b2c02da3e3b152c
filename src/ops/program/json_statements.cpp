// Statements from JSON.
#include "program/json_statements.hpp"

#include <algorithm>
#include <utility>

#include "program/tl_reader.hpp"
#include "program/words.hpp"
#include "spec/common.hpp"

namespace tilejit::program {
namespace {

using core::pointer_to;
using spec::Json;
using spec::ObjectReader;
using spec::Problems;

constexpr std::string_view kOps[] = {"allocate", "copy",   "gemm",    "compute", "reduce", "scan",
                                     "reshape",  "let",    "for",     "while",   "if",     "atomic",
                                     "print",    "assert", "barrier", "comment"};

std::string known_ops() {
  std::string text;
  for (const std::string_view op : kOps) text += (text.empty() ? "" : ", ") + std::string(op);
  return text;
}

}  // namespace

TileBody BodyReader::body(const Json& json, const std::string& where) {
  TileBody body;
  if (!json.is_array()) {
    problems_.add(ErrorCode::invalid_spec, "expected a list of statements", where);
    return body;
  }
  for (std::size_t i = 0; i < json.size() && !problems_.full(); ++i) {
    const std::string at = pointer_to(where, std::to_string(i));
    if (++statements_ > kMostStatements) {
      problems_.add(ErrorCode::invalid_spec, "a program has at most 10000 statements", at);
      break;
    }
    body.push_back(statement(json[i], at));
  }
  return body;
}

TileStatement BodyReader::statement(const Json& json, const std::string& where) {
  ObjectReader object(json, where, problems_);
  TileStatement made{.kind = TileBarrier{}};
  if (object.find("op") == nullptr) object.missing("op", "\"copy\"");
  const auto op = object.text("op");
  if (!op) return made;
  if (std::ranges::find(kOps, *op) == std::end(kOps)) {
    problems_.add(ErrorCode::invalid_spec,
                  "unknown statement " + spec::in_quotes(*op) + "; there are " + known_ops(),
                  object.at("op"));
    return made;
  }
  made.kind = kind(*op, object);
  if (auto comment = object.text("comment")) made.comment = std::move(*comment);
  return made;
}

TileStatement::Kind BodyReader::kind(const std::string& op, ObjectReader& object) {
  if (op == "allocate") return allocate(object);
  if (op == "copy") return copy(object);
  if (op == "gemm") return gemm(object);
  if (op == "compute") return compute(object);
  if (op == "reduce") return reduce(object);
  if (op == "scan") return scan(object);
  if (op == "reshape") return reshape(object);
  if (op == "for") return loop(object);
  if (op == "if") return branch(object);
  if (op == "atomic") return atomic(object);
  if (op == "let") {
    object.refuse_others({"op", "var", "expr", "comment"});
    return TileLet{name(object, "var"), expression(object, "expr")};
  }
  if (op == "while") {
    object.refuse_others({"op", "cond", "body", "comment"});
    return TileWhile{expression(object, "cond"), member_body(object, "body")};
  }
  if (op == "print") {
    object.refuse_others({"op", "format", "args", "comment"});
    return TilePrint{optional_name(object, "format"), expressions(object, "args")};
  }
  if (op == "assert") {
    object.refuse_others({"op", "cond", "msg", "comment"});
    return TileAssert{expression(object, "cond"), optional_name(object, "msg")};
  }
  if (op == "comment") {
    object.refuse_others({"op", "text"});
    return TileComment{optional_name(object, "text")};
  }
  object.refuse_others({"op", "comment"});
  return TileBarrier{};
}

TileAllocate BodyReader::allocate(ObjectReader& object) {
  object.refuse_others(
      {"op", "var", "space", "shape", "dtype", "init", "offset", "stride", "layout", "comment"});
  TileAllocate made{.name = name(object, "var")};
  word(object, "space", kSpaces, made.space);
  made.shape = expressions(object, "shape");
  if (const auto dtype = object.text("dtype")) {
    try {
      made.dtype = parse_dtype(*dtype, object.at("dtype"));
    } catch (const Error& error) {
      problems_.add(error, object.at("dtype"));
    }
  }
  made.init = optional_expression(object, "init");
  made.offset = optional_expression(object, "offset");
  made.stride = expressions(object, "stride");
  if (const auto layout = object.text("layout")) {
    try {
      made.layout = parse_composed_layout(*layout);
    } catch (const Error& error) {
      problems_.add(error, object.at("layout"));
    }
  }
  return made;
}

TileIndex BodyReader::index(ObjectReader& object) {
  using Kind = TileIndex::Kind;
  const Json* const coord = object.find("coord");
  if (coord != nullptr && coord->is_object()) {
    ObjectReader linear(*coord, object.at("coord"), problems_);
    linear.refuse_others({"L"});
    return {Kind::linear, {expression(linear, "L")}};
  }
  if (coord != nullptr) return {Kind::tile, expressions(object, "coord")};
  if (object.find("origin") != nullptr) return {Kind::element, expressions(object, "origin")};
  if (object.find("indices") != nullptr) return {Kind::gather, expressions(object, "indices")};
  return {};
}

std::optional<ThreadValueLayouts> BodyReader::tv(ObjectReader& object) {
  const Json* const json = object.find("tv");
  if (json == nullptr) return std::nullopt;
  ObjectReader layouts(*json, object.at("tv"), problems_);
  layouts.refuse_others({"thr", "val"});
  ThreadValueLayouts tv;
  for (const auto& [key, layout] : {std::pair("thr", &tv.thr), std::pair("val", &tv.val)}) {
    if (layouts.find(key) == nullptr) layouts.missing(key, "\"(4,64):(64,1)\"");
    const auto text = layouts.text(key);
    if (!text) continue;
    try {
      *layout = parse_layout(*text);
    } catch (const Error& error) {
      problems_.add(error, layouts.at(key));
    }
  }
  return tv;
}

TileCopy BodyReader::copy(ObjectReader& object) {
  object.refuse_others({"op", "var", "from", "to", "tile", "coord", "origin", "indices", "as",
                        "pad", "order", "mask", "tv", "comment"});
  TileCopy copy{.name = name(object, "var")};
  word(object, "from", kSpaces, copy.from);
  word(object, "to", kSpaces, copy.to);
  copy.tile = expressions(object, "tile");
  copy.index = index(object);
  copy.as = optional_name(object, "as");
  if (object.find("pad") != nullptr) word(object, "pad", kPads, copy.pad);
  copy.order = integers(object, "order");
  copy.mask = optional_expression(object, "mask");
  copy.tv = tv(object);
  return copy;
}

TileGemm BodyReader::gemm(ObjectReader& object) {
  object.refuse_others({"op", "a", "b", "out", "mode", "comment"});
  TileGemm gemm{.a = name(object, "a"), .b = name(object, "b"), .out = name(object, "out")};
  for (const auto& [text, transposed] :
       {std::pair(&gemm.a, &gemm.a_transposed), std::pair(&gemm.b, &gemm.b_transposed)}) {
    *transposed = text->ends_with(".T");
    if (*transposed) text->resize(text->size() - 2);
  }
  const auto mode = object.text("mode");
  gemm.accumulate = mode == "accumulate";
  if (mode && *mode != "get" && !gemm.accumulate) {
    problems_.add(ErrorCode::invalid_spec,
                  "unknown mode " + spec::in_quotes(*mode) + "; use get or accumulate",
                  object.at("mode"));
  }
  return gemm;
}

TileCompute BodyReader::compute(ObjectReader& object) {
  object.refuse_others({"op", "out", "expr", "fn", "args", "comment"});
  TileCompute compute{.out = name(object, "out")};
  if (object.find("fn") != nullptr) {
    compute.function = name(object, "fn");
    compute.arguments = expressions(object, "args");
  } else {
    compute.value = expression(object, "expr");
  }
  return compute;
}

TileReduce BodyReader::reduce(ObjectReader& object) {
  object.refuse_others({"op", "kind", "arg", "axis", "out", "init", "keepdims", "comment"});
  TileReduce reduce{.name = name(object, "arg"), .out = name(object, "out")};
  word(object, "kind", kReductions, reduce.kind);
  reduce.axes = integers(object, "axis");
  reduce.init = optional_expression(object, "init");
  reduce.keepdims = object.boolean("keepdims").value_or(true);
  return reduce;
}

TileScan BodyReader::scan(ObjectReader& object) {
  object.refuse_others({"op", "kind", "arg", "axis", "out", "exclusive", "reverse", "comment"});
  TileScan scan{.name = name(object, "arg"), .out = name(object, "out")};
  word(object, "kind", kScans, scan.kind);
  scan.axis = integer(object, "axis").value_or(-1);
  scan.exclusive = object.boolean("exclusive").value_or(false);
  scan.reverse = object.boolean("reverse").value_or(false);
  return scan;
}

TileReshape BodyReader::reshape(ObjectReader& object) {
  using Kind = TileReshape::Kind;
  object.refuse_others({"op", "var", "from", "to", "permute", "broadcast", "extract", "insert",
                        "cat", "axis", "as", "comment"});
  TileReshape reshape{.name = name(object, "var")};
  reshape.as = optional_name(object, "as");
  if (object.find("from") != nullptr) {
    reshape.kind = Kind::role;
    spec::read_strings(object, "from", reshape.from);
    spec::read_strings(object, "to", reshape.to);
  } else if (object.find("to") != nullptr) {
    reshape.shape = expressions(object, "to");
  } else if (object.find("permute") != nullptr) {
    reshape.kind = Kind::permute;
    reshape.axes = integers(object, "permute");
  } else if (object.find("broadcast") != nullptr) {
    reshape.kind = Kind::broadcast;
    reshape.shape = expressions(object, "broadcast");
  } else if (object.find("extract") != nullptr) {
    reshape.kind = Kind::extract;
    extract(object, reshape);
  } else if (const Json* const insert = object.find("insert")) {
    reshape.kind = Kind::insert;
    ObjectReader part(*insert, object.at("insert"), problems_);
    part.refuse_others({"from", "at"});
    reshape.source = name(part, "from");
    reshape.at = expressions(part, "at");
  } else if (object.find("cat") != nullptr) {
    reshape.kind = Kind::cat;
    spec::read_strings(object, "cat", reshape.others);
    reshape.axis = integer(object, "axis").value_or(0);
  } else {
    object.missing("to", R"_([64, 16], or "permute", "broadcast", "extract", "insert" or "cat")_");
  }
  return reshape;
}

/// [null, 1, null], or {"shape": [8, 8], "at": [0, 8]}.
void BodyReader::extract(ObjectReader& object, TileReshape& reshape) {
  const Json& json = *object.find("extract");
  if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      const std::string where = pointer_to(object.at("extract"), std::to_string(i));
      reshape.at.push_back(json[i].is_null() ? TileExpression("_") : expression_of(json[i], where));
    }
    return;
  }
  ObjectReader part(json, object.at("extract"), problems_);
  part.refuse_others({"shape", "at"});
  reshape.shape = expressions(part, "shape");
  reshape.at = expressions(part, "at");
}

TileFor BodyReader::loop(ObjectReader& object) {
  object.refuse_others({"op", "var", "range", "stages", "unroll", "body", "comment"});
  TileFor loop;
  loop.name = name(object, "var");
  if (object.find("range") == nullptr) object.missing("range", "[0, 8]");
  const std::vector<TileExpression> range = expressions(object, "range");
  if (range.size() == 2 || range.size() == 3) {
    loop.begin = range[0];
    loop.end = range[1];
    if (range.size() == 3) loop.step = range[2];
  } else if (object.find("range") != nullptr) {
    problems_.add(ErrorCode::invalid_spec,
                  "a range has a begin, an end and, if it is not 1, a step; found " +
                      std::to_string(range.size()) + " numbers",
                  object.at("range"));
  }
  loop.stages = integer(object, "stages");
  loop.unroll = integer(object, "unroll");
  loop.body = member_body(object, "body");
  return loop;
}

TileIf BodyReader::branch(ObjectReader& object) {
  object.refuse_others({"op", "cond", "then", "else", "comment"});
  TileIf branch;
  branch.condition = expression(object, "cond");
  branch.then = member_body(object, "then");
  if (object.find("else") != nullptr) branch.otherwise = member_body(object, "else");
  return branch;
}

TileAtomic BodyReader::atomic(ObjectReader& object) {
  object.refuse_others(
      {"op", "kind", "var", "tile", "coord", "origin", "indices", "as", "out", "comment"});
  TileAtomic atomic{.name = name(object, "var")};
  word(object, "kind", kAtomics, atomic.kind);
  atomic.tile = expressions(object, "tile");
  atomic.index = index(object);
  atomic.as = name(object, "as");
  atomic.out = optional_name(object, "out");
  return atomic;
}

template <typename Words, typename Value>
void BodyReader::word(ObjectReader& object, std::string_view key, const Words& words,
                      Value& value) {
  if (object.find(key) == nullptr) {
    return object.missing(key, '"' + std::string(words[0].text) + '"');
  }
  const auto text = object.text(key);
  if (!text) return;
  if (const auto found = find_word(words, *text)) {
    value = *found;
  } else {
    problems_.add(
        ErrorCode::invalid_spec,
        "unknown " + std::string(key) + ' ' + spec::in_quotes(*text) + "; use " + list_of(words),
        object.at(key));
  }
}

TileBody BodyReader::member_body(ObjectReader& object, std::string_view key) {
  if (object.find(key) == nullptr) {
    object.missing(key, "[], a list of statements");
    return {};
  }
  return body(*object.find(key), object.at(key));
}

}  // namespace tilejit::program
