#pragma once

#include <string>
#include <vector>

#include "support/random_case.hpp"
#include "tilejit/program.hpp"

namespace tilejit::test {

/// A tile program with values for its symbols and scalars.
struct ProgramCase {
  std::string text;
  SymbolValues symbols = {};
  std::vector<Number> scalars = {};
};

/// The programs of examples/programs, without ".tl", sorted.
[[nodiscard]] std::vector<std::string> program_examples();
/// The text of examples/programs/`file`: "softmax.tl", "softmax.json".
[[nodiscard]] std::string program_example(const std::string& file);
/// One of them, with the sizes and scalars that it names as examples.
[[nodiscard]] ProgramCase program_example_case(const std::string& name);

/// A random program with all kinds of statements but products of floats, prints and asserts. Its
/// values are integers of at most 8, sums apart, so that results are exact whatever the order in
/// which a kernel combines them. Extents are small and often ragged.
[[nodiscard]] ProgramCase random_program_case(Random& random);

/// The tensors before a launch: what the program reads has values from `next`, what is set to 0
/// has zeros, all else a pattern.
[[nodiscard]] std::vector<GuardedTensor> tensors_before(const TileProgram& program,
                                                        const ProgramCase& c,
                                                        const std::function<double()>& next);
/// Compares the tensors after a launch with the interpreter's: they differ by at most `tolerance`,
/// relative to the magnitude 1 or that of the value, and nothing else has changed. Returns the
/// lines that the interpreter printed, sorted.
std::vector<std::string> expect_interpreted(const TileProgram& program, const ProgramCase& c,
                                            std::vector<GuardedTensor> before,
                                            const std::vector<GuardedTensor>& after,
                                            double tolerance);

/// The lines of `text`, sorted: threads and blocks print in any order.
[[nodiscard]] std::vector<std::string> sorted_lines(const std::string& text);

/// Integers from -4 to 4, or from 0 to 4, from a random source.
[[nodiscard]] double small_integer(Random& random, bool is_signed);

}  // namespace tilejit::test
