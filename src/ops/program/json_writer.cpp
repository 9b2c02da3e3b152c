// Programs as JSON.
#include <algorithm>
#include <cmath>
#include <utility>

#include "program/json.hpp"
#include "program/json_statements.hpp"
#include "program/style.hpp"
#include "program/tl_cursor.hpp"
#include "program/tl_reader.hpp"
#include "program/words.hpp"
#include "spec/common.hpp"

namespace tilejit::program {
namespace {

using spec::Json;

Json number_json(const Number& number) {
  if (!number.is_integer()) {
    const auto real = number.to<double>();
    return std::isfinite(real) ? Json(real) : Json(to_string(number));
  }
  if (number.exceeds_i64()) return static_cast<std::uint64_t>(number.bits());
  return number.bits();
}

Json values_json(const std::vector<TileValues>& list) {
  Json json = Json::object();
  for (const TileValues& values : list) {
    json[values.name] = Json::array();
    for (const Number& value : values.values) json[values.name].push_back(number_json(value));
  }
  return json;
}

void add_index(const TileIndex& index, Json& json) {
  switch (index.kind) {
    case TileIndex::Kind::none: return;
    case TileIndex::Kind::linear:
      json["coord"]["L"] = index.at.empty() ? Json(0) : expression_json(index.at.front());
      return;
    case TileIndex::Kind::tile: json["coord"] = expressions_json(index.at); return;
    case TileIndex::Kind::element: json["origin"] = expressions_json(index.at); return;
    case TileIndex::Kind::gather: json["indices"] = expressions_json(index.at); return;
  }
}

/// One axis as an integer, several as a list.
Json axes_json(const std::vector<int>& axes) {
  return axes.size() == 1 ? Json(axes.front()) : Json(axes);
}

struct StatementJson {
  Json operator()(const TileAllocate& made) const {
    Json json = {{"op", "allocate"},
                 {"var", made.name},
                 {"space", text_of(kSpaces, made.space)},
                 {"shape", expressions_json(made.shape)}};
    if (made.dtype) json["dtype"] = to_string(*made.dtype);
    if (made.init) json["init"] = expression_json(*made.init);
    if (made.offset) json["offset"] = expression_json(*made.offset);
    if (!made.stride.empty()) json["stride"] = expressions_json(made.stride);
    if (made.layout) json["layout"] = to_string(*made.layout);
    return json;
  }

  Json operator()(const TileCopy& copy) const {
    Json json = {{"op", "copy"}, {"var", copy.name}};
    if (!copy.tile.empty()) json["tile"] = expressions_json(copy.tile);
    add_index(copy.index, json);
    json["from"] = text_of(kSpaces, copy.from);
    json["to"] = text_of(kSpaces, copy.to);
    if (!copy.as.empty()) json["as"] = copy.as;
    if (copy.pad != TilePad::none) json["pad"] = text_of(kPads, copy.pad);
    if (!copy.order.empty()) json["order"] = copy.order;
    if (copy.mask) json["mask"] = expression_json(*copy.mask);
    if (copy.tv) {
      json["tv"] = {{"thr", to_string(copy.tv->thr)}, {"val", to_string(copy.tv->val)}};
    }
    return json;
  }

  Json operator()(const TileGemm& gemm) const {
    return {{"op", "gemm"},
            {"a", gemm.a + (gemm.a_transposed ? ".T" : "")},
            {"b", gemm.b + (gemm.b_transposed ? ".T" : "")},
            {"mode", gemm.accumulate ? "accumulate" : "get"},
            {"out", gemm.out}};
  }

  Json operator()(const TileCompute& compute) const {
    Json json = {{"op", "compute"}};
    if (compute.function.empty()) {
      json["expr"] = compute.value ? expression_json(*compute.value) : Json(0);
    } else {
      json["fn"] = compute.function;
      json["args"] = expressions_json(compute.arguments);
    }
    json["out"] = compute.out;
    return json;
  }

  Json operator()(const TileReduce& reduce) const {
    Json json = {
        {"op", "reduce"}, {"kind", text_of(kReductions, reduce.kind)}, {"arg", reduce.name}};
    if (!reduce.axes.empty()) json["axis"] = axes_json(reduce.axes);
    if (reduce.init) json["init"] = expression_json(*reduce.init);
    if (!reduce.keepdims) json["keepdims"] = false;
    json["out"] = reduce.out;
    return json;
  }

  Json operator()(const TileScan& scan) const {
    Json json = {{"op", "scan"},
                 {"kind", text_of(kScans, scan.kind)},
                 {"arg", scan.name},
                 {"axis", scan.axis}};
    if (scan.exclusive) json["exclusive"] = true;
    if (scan.reverse) json["reverse"] = true;
    json["out"] = scan.out;
    return json;
  }

  Json operator()(const TileReshape& reshape) const {
    Json json = {{"op", "reshape"}, {"var", reshape.name}};
    add_part(reshape, json);
    if (!reshape.as.empty()) json["as"] = reshape.as;
    return json;
  }

  static void add_part(const TileReshape& reshape, Json& json) {
    switch (reshape.kind) {
      case TileReshape::Kind::role:
        json["from"] = reshape.from;
        json["to"] = reshape.to;
        return;
      case TileReshape::Kind::shape: json["to"] = expressions_json(reshape.shape); return;
      case TileReshape::Kind::permute: json["permute"] = reshape.axes; return;
      case TileReshape::Kind::broadcast:
        json["broadcast"] = expressions_json(reshape.shape);
        return;
      case TileReshape::Kind::extract:
        if (reshape.shape.empty()) {
          json["extract"] = expressions_json(reshape.at);
        } else {
          json["extract"] = {{"shape", expressions_json(reshape.shape)},
                             {"at", expressions_json(reshape.at)}};
        }
        return;
      case TileReshape::Kind::insert:
        json["insert"] = {{"from", reshape.source}, {"at", expressions_json(reshape.at)}};
        return;
      case TileReshape::Kind::cat:
        json["cat"] = reshape.others;
        json["axis"] = reshape.axis;
        return;
    }
  }

  Json operator()(const TileLet& let) const {
    return {{"op", "let"}, {"var", let.name}, {"expr", expression_json(let.value)}};
  }

  Json operator()(const TileFor& loop) const {
    Json json = {{"op", "for"}, {"var", loop.name}};
    json["range"] = {expression_json(loop.begin), expression_json(loop.end)};
    if (loop.step) json["range"].push_back(expression_json(*loop.step));
    if (loop.stages) json["stages"] = *loop.stages;
    if (loop.unroll) json["unroll"] = *loop.unroll;
    json["body"] = body_json(loop.body);
    return json;
  }

  Json operator()(const TileWhile& loop) const {
    return {
        {"op", "while"}, {"cond", expression_json(loop.condition)}, {"body", body_json(loop.body)}};
  }

  Json operator()(const TileIf& branch) const {
    Json json = {{"op", "if"},
                 {"cond", expression_json(branch.condition)},
                 {"then", body_json(branch.then)}};
    if (!branch.otherwise.empty()) json["else"] = body_json(branch.otherwise);
    return json;
  }

  Json operator()(const TileAtomic& atomic) const {
    Json json = {{"op", "atomic"}, {"kind", text_of(kAtomics, atomic.kind)}, {"var", atomic.name}};
    if (!atomic.tile.empty()) json["tile"] = expressions_json(atomic.tile);
    add_index(atomic.index, json);
    json["as"] = atomic.as;
    if (!atomic.out.empty()) json["out"] = atomic.out;
    return json;
  }

  Json operator()(const TilePrint& print) const {
    Json json = {{"op", "print"}, {"format", print.text}};
    if (!print.arguments.empty()) json["args"] = expressions_json(print.arguments);
    return json;
  }

  Json operator()(const TileAssert& assertion) const {
    Json json = {{"op", "assert"}, {"cond", expression_json(assertion.condition)}};
    if (!assertion.message.empty()) json["msg"] = assertion.message;
    return json;
  }

  Json operator()(const TileBarrier&) const { return {{"op", "barrier"}}; }
  Json operator()(const TileComment& comment) const {
    return {{"op", "comment"}, {"text", comment.text}};
  }
};

Json launch_json(const TileLaunch& launch) {
  const TileLaunch usual;
  Json json = {{"grid", expressions_json(launch.grid)}};
  if (launch.block != usual.block) json["block"] = expressions_json(launch.block);
  if (launch.cluster != usual.cluster) json["cluster"] = expression_json(launch.cluster);
  if (launch.min_blocks != usual.min_blocks) json["min_blocks"] = launch.min_blocks;
  if (launch.order != usual.order) json["order"] = launch.order;
  return json;
}

/// `text` with blanks in place of its Sweep lines: a sweep puts its values into the rest.
std::string without_sweep(std::string_view text) {
  using Kind = expr::Token::Kind;
  std::string blanked(text);
  const auto tokens =
      expr::tokenize({text, "program", {}}, {.dotted_names = true, .statements = true});
  bool begins = true;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (begins && tokens[i].is("Sweep")) {
      const std::size_t begin = tokens[i].position;
      while (tokens[i].kind != Kind::separator && tokens[i].kind != Kind::comment &&
             tokens[i].kind != Kind::end) {
        ++i;
      }
      for (std::size_t at = begin; at < tokens[i].position; ++at) {
        if (blanked[at] != '\n') blanked[at] = ' ';
      }
    }
    begins = tokens[i].kind == Kind::separator || tokens[i].kind == Kind::comment;
  }
  return blanked;
}

}  // namespace

Json expression_json(const TileExpression& expression) {
  const std::string& text = expression.text();
  if (text == "_") return nullptr;
  const bool is_number = !text.empty() && text.size() < 18 &&
                         text.find_first_not_of("0123456789") == text.npos &&
                         (text == "0" || text.front() != '0');
  return is_number ? Json(std::stoll(text)) : Json(text);
}

Json expressions_json(const std::vector<TileExpression>& expressions) {
  Json json = Json::array();
  for (const TileExpression& expression : expressions) json.push_back(expression_json(expression));
  return json;
}

Json body_json(const TileBody& body) {
  Json json = Json::array();
  for (const TileStatement& statement : body) {
    Json one = std::visit(StatementJson{}, statement.kind);
    if (!statement.comment.empty()) one["comment"] = statement.comment;
    json.push_back(std::move(one));
  }
  return json;
}

Json program_json(const TileProgram& program) {
  Json json = spec::common_json(program.name, program.symbols, program.tensors, program.scalars);
  json["op"] = "program";
  for (const TileConstant& constant : program.constants) {
    json["constants"][constant.name] = number_json(constant.value);
  }
  if (!program.sweep.empty()) json["sweep"] = values_json(program.sweep);
  for (const Function& function : program.functions) {
    json["functions"][function.name] = {{"args", function.args}, {"expr", styled(function.expr)}};
  }
  if (!program.zeroed.empty()) json["zeroed"] = program.zeroed;
  if (program.launch != TileLaunch{}) json["launch"] = launch_json(program.launch);
  if (!program.tune.empty()) json["tune"] = values_json(program.tune);
  if (!program.verify.empty()) {
    json["verify"] = Json::array();
    for (const TileExpression& line : program.verify) json["verify"].push_back(line.text());
  }
  json["body"] = body_json(program.body);
  for (const TileNote& note : program.notes) {
    Json one = {{"at", note.at}, {"text", note.text}};
    if (note.same_line) one["same_line"] = true;
    json["comments"].push_back(std::move(one));
  }
  spec::add_tuning(json, program.tuning);
  return json;
}

bool is_tl(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n;");
  while (at != text.npos && text[at] == '#') {
    at = text.find('\n', at);
    if (at != text.npos) at = text.find_first_not_of(" \t\r\n;", at);
  }
  if (at == text.npos) return false;
  std::size_t end = at;
  while (end < text.size() && text[end] >= 'A' && text[end] <= 'z') ++end;
  return is_tl_word(text.substr(at, end - at));
}

Json descriptor_of_text(std::string_view text) {
  const TileProgram program = read_tl(text);
  Json json = {{"op", "program"}, {"name", program.name}, {"text", without_sweep(text)}};
  if (!program.sweep.empty()) json["sweep"] = values_json(program.sweep);
  return json;
}

}  // namespace tilejit::program
