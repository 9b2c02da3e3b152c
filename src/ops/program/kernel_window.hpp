#pragma once

#include <string>

#include "program/kernel_writer.hpp"

namespace tilejit::program {

/// The variables of a window in the text.
struct KernelWriter::Opened {
  WindowFacts facts = {};
  std::string base = {};    // the address of element 0 of the tile, if it has strides
  std::string tensor = {};  // the address of the tensor, or of its view
  Texts extents = {}, strides = {}, origin = {};  // i64, per axis of the tile
  Texts below = {}, above = {};  // int: elements of the tile from `below` to `above` exist
  bool all_or_none = false;      // tiles are whole, or outside
  std::string whole = {};        // whether the tile is whole; empty: nothing says so at once
  std::string wide = "false";    // vectors are aligned
};

}  // namespace tilejit::program
