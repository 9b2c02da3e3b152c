#include <algorithm>
#include <variant>

#include "program/check.hpp"
#include "program/words.hpp"

namespace tilejit::program {
namespace {

std::int64_t steps_of(const Steps& steps) {
  std::int64_t count = 0;
  for (const Step& step : steps) {
    ++count;
    if (const auto* const loop = std::get_if<Loop>(&step.kind)) count += steps_of(loop->body);
    if (const auto* const loop = std::get_if<WhileLoop>(&step.kind)) count += steps_of(loop->body);
    if (const auto* const branch = std::get_if<Branch>(&step.kind)) {
      count += steps_of(branch->then) + steps_of(branch->otherwise);
    }
  }
  return count;
}

std::string sizes_text(const operation::LaunchShape& shape, std::size_t first) {
  return "(" + shape.numbers[first].text() + ", " + shape.numbers[first + 1].text() + ", " +
         shape.numbers[first + 2].text() + ")";
}

std::string_view access_text(Access access) {
  return access == Access::in ? "in" : access == Access::out ? "out" : "inout";
}

/// `text`, and blanks up to `width`.
std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

}  // namespace

std::string description(const TileProgram& program) {
  const Code code = check(program, program.tuning);
  std::string text =
      program.name + ": a tile program of " + std::to_string(steps_of(code.body)) + " steps\n";
  const auto line = [&](const std::string& topic, const std::string& what) {
    text += "  " + padded(topic, 9) + what + '\n';
  };
  line("blocks", sizes_text(code.shape, operation::LaunchShape::grid));
  line("threads", sizes_text(code.shape, operation::LaunchShape::block));
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& tensor = program.tensors[i];
    line(std::string(access_text(code.access[i])),
         tensor.name + ' ' + std::string(tilejit::to_string(tensor.dtype)) + ' ' +
             tilejit::to_string(tensor.layout));
  }
  for (const Scalar& scalar : program.scalars) {
    line("scalar",
         scalar.name + ' ' + std::string(tilejit::to_string(scalar.dtype)) + ", given at launch");
  }
  for (const TileConstant& constant : program.constants) {
    line("constant", constant.name + " = " + tilejit::to_string(constant.value));
  }
  std::int64_t shared = 0;
  for (const TileSlot& tile : code.tiles) {
    const std::int64_t bytes = count_of(tile.type.shape) * size_bytes(tile.type.dtype);
    if (tile.space == TileSpace::shared) shared += bytes;
    line(std::string(text_of(kSpaces, tile.space)),
         tile.name + ' ' + to_string(tile.type) + ", " + std::to_string(bytes) + " bytes");
  }
  line("shared", std::to_string(shared) + " bytes of a block, before stages");
  return text;
}

}  // namespace tilejit::program

namespace tilejit {

std::string describe(const TileProgram& program) {
  return program::description(program);
}

}  // namespace tilejit
