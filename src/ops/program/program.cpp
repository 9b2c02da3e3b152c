// The forms of a program (tilejit/program.hpp).
#include "tilejit/program.hpp"

#include <algorithm>

#include "core/json_line.hpp"
#include "program/json.hpp"
#include "program/tl_reader.hpp"
#include "program/tl_writer.hpp"
#include "spec/common.hpp"

namespace tilejit {

// Written out: these types contain each other.
bool TileStatement::operator==(const TileStatement& other) const {
  return comment == other.comment && kind == other.kind;
}

bool TileFor::operator==(const TileFor& other) const {
  return name == other.name && begin == other.begin && end == other.end && step == other.step &&
         stages == other.stages && unroll == other.unroll && body == other.body;
}

bool TileWhile::operator==(const TileWhile& other) const {
  return condition == other.condition && body == other.body;
}

bool TileIf::operator==(const TileIf& other) const {
  return condition == other.condition && then == other.then && otherwise == other.otherwise;
}

bool TileProgram::operator==(const TileProgram& other) const {
  const auto functions_equal = [](const Function& a, const Function& b) {
    return a.name == b.name && a.args == b.args && TileExpression(a.expr) == TileExpression(b.expr);
  };
  return name == other.name && symbols == other.symbols && tensors == other.tensors &&
         scalars == other.scalars && constants == other.constants && sweep == other.sweep &&
         std::ranges::equal(functions, other.functions, functions_equal) &&
         zeroed == other.zeroed && launch == other.launch && tune == other.tune &&
         verify == other.verify && body == other.body && notes == other.notes &&
         tuning == other.tuning;
}

TileProgram parse_program(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '{') return program::read_tl(text);
  spec::Problems problems;
  TileProgram made = program::read_json(spec::parse_json(text), "", problems);
  problems.throw_if_any();
  return made;
}

std::string to_tl(const TileProgram& program) {
  return program::tl_text(program);
}

std::string to_json(const TileProgram& program) {
  return core::indented(spec::text_of(program::program_json(program), program.name));
}

}  // namespace tilejit
