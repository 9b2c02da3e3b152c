// Reshape in a TL text.
#include "program/tl_reader.hpp"

namespace tilejit::program {

std::vector<std::string> StatementReader::roles() {
  std::vector<std::string> names;
  if (!at_.accept("(")) return {at_.name("a role such as MMA_C")};
  do {
    names.push_back(at_.name("a role such as MMA_C"));
  } while (at_.accept(","));
  at_.expect(")", "after the roles");
  return names;
}

TileReshape StatementReader::reshape() {
  TileReshape reshape{.name = at_.name("a tile")};
  if (at_.accept("from")) {
    reshape.kind = TileReshape::Kind::role;
    reshape.from = roles();
    at_.expect("to", "after the roles");
    reshape.to = roles();
  } else if (at_.accept("to")) {
    reshape.shape = at_.list("an extent");
  } else {
    reshape_part(reshape);
  }
  if (at_.accept("as")) reshape.as = at_.name("a name");
  return reshape;
}

void StatementReader::reshape_part(TileReshape& reshape) {
  using Kind = TileReshape::Kind;
  if (at_.accept("permute")) {
    reshape.kind = Kind::permute;
    reshape.axes = at_.integers("an axis");
  } else if (at_.accept("broadcast")) {
    reshape.kind = Kind::broadcast;
    reshape.shape = at_.list("an extent");
  } else if (at_.accept("extract")) {
    reshape.kind = Kind::extract;
    if (at_.at("(")) {
      reshape.shape = at_.list("an extent");
      at_.expect("at", "after the shape of the part");
    }
    reshape.at = at_.list("an index or '_'");
  } else if (at_.accept("insert")) {
    reshape.kind = Kind::insert;
    reshape.source = at_.name("a tile");
    at_.expect("at", "after the tile that is inserted");
    reshape.at = at_.list("an index");
  } else if (at_.accept("cat")) {
    reshape.kind = Kind::cat;
    do {
      reshape.others.push_back(at_.name("a tile"));
    } while (at_.accept(","));
    at_.expect("axis", "after the tiles");
    reshape.axis = at_.integer("an axis");
  } else {
    at_.fail("expected from, to, permute, broadcast, extract, insert or cat, found " + at_.found());
  }
}

}  // namespace tilejit::program
