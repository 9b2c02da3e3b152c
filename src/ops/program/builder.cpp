#include <utility>

#include "tilejit/program_builder.hpp"

namespace tilejit {
namespace {

TileBody built(const TileBuilder::Inner& inner) {
  TileBuilder builder;
  if (inner) inner(builder);
  return builder.take();
}

}  // namespace

TileIndex tile_number(TileExpression number) {
  return {TileIndex::Kind::linear, {std::move(number)}};
}

TileIndex tile_at(std::vector<TileExpression> coordinate) {
  return {TileIndex::Kind::tile, std::move(coordinate)};
}

TileIndex element_at(std::vector<TileExpression> origin) {
  return {TileIndex::Kind::element, std::move(origin)};
}

TileIndex elements(std::vector<TileExpression> indices) {
  return {TileIndex::Kind::gather, std::move(indices)};
}

TileBuilder& TileBuilder::add(TileStatement::Kind statement) {
  body_.push_back({.kind = std::move(statement)});
  return *this;
}

TileBuilder& TileBuilder::view(std::string name, std::vector<TileExpression> shape,
                               TileExpression offset) {
  return add(TileAllocate{.name = std::move(name),
                          .space = TileSpace::global,
                          .shape = std::move(shape),
                          .offset = std::move(offset)});
}

TileBuilder& TileBuilder::tile(std::string name, TileSpace space, std::vector<TileExpression> shape,
                               DType dtype, std::optional<TileExpression> init) {
  return add(TileAllocate{.name = std::move(name),
                          .space = space,
                          .shape = std::move(shape),
                          .dtype = dtype,
                          .init = std::move(init)});
}

TileBuilder& TileBuilder::load(std::string name, std::vector<TileExpression> tile, TileIndex index,
                               TileSpace to, TilePad pad) {
  return add(TileCopy{.name = std::move(name),
                      .from = TileSpace::global,
                      .to = to,
                      .tile = std::move(tile),
                      .index = std::move(index),
                      .pad = pad});
}

TileBuilder& TileBuilder::store(std::string name, std::vector<TileExpression> tile, TileIndex index,
                                std::string as) {
  return add(TileCopy{.name = std::move(name),
                      .from = TileSpace::registers,
                      .to = TileSpace::global,
                      .tile = std::move(tile),
                      .index = std::move(index),
                      .as = std::move(as)});
}

TileBuilder& TileBuilder::multiply(TileGemm gemm) {
  return add(std::move(gemm));
}

TileBuilder& TileBuilder::compute(std::string out, TileExpression value) {
  return add(TileCompute{.out = std::move(out), .value = std::move(value)});
}

TileBuilder& TileBuilder::call(std::string function, std::vector<TileExpression> arguments,
                               std::string out) {
  return add(TileCompute{
      .out = std::move(out), .function = std::move(function), .arguments = std::move(arguments)});
}

TileBuilder& TileBuilder::reduce(TileReduce::Kind kind, std::string name, int axis,
                                 std::string out) {
  return add(
      TileReduce{.kind = kind, .name = std::move(name), .axes = {axis}, .out = std::move(out)});
}

TileBuilder& TileBuilder::let(std::string name, TileExpression value) {
  return add(TileLet{std::move(name), std::move(value)});
}

TileBuilder& TileBuilder::loop(std::string name, TileExpression begin, TileExpression end,
                               const Inner& body, std::optional<int> stages) {
  return add(TileFor{.name = std::move(name),
                     .begin = std::move(begin),
                     .end = std::move(end),
                     .stages = stages,
                     .body = built(body)});
}

TileBuilder& TileBuilder::when(TileExpression condition, const Inner& then,
                               const Inner& otherwise) {
  return add(TileIf{
      .condition = std::move(condition), .then = built(then), .otherwise = built(otherwise)});
}

}  // namespace tilejit
