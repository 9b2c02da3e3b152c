#pragma once

#include <map>
#include <string>
#include <vector>

#include "program/kernel_writer.hpp"

namespace tilejit::program {

/// What is written of one expression.
struct KernelWriter::Evaluation {
  const Value& value;
  Distribution space;
  std::vector<Extents> shapes;               // of the nodes
  std::map<expr::NodeId, Array> operands;    // of loads from tiles
  std::map<expr::NodeId, std::string> made;  // arrays of reductions and scans
  std::map<expr::NodeId, Extents> made_over;
};

}  // namespace tilejit::program
