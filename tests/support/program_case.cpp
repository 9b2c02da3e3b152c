#include "support/program_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/source_dir.hpp"

namespace tilejit::test {

std::vector<std::string> program_examples() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_dir() / "examples" / "programs")) {
    if (entry.path().extension() == ".tl") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  EXPECT_GE(names.size(), 21u);
  return names;
}

std::string program_example(const std::string& file) {
  std::ifstream stream(source_dir() / "examples" / "programs" / file);
  EXPECT_TRUE(stream) << file;
  return {(std::istreambuf_iterator<char>(stream)), {}};
}

ProgramCase program_example_case(const std::string& name) {
  ProgramCase made{.text = program_example(name + ".tl")};
  const TileProgram program = parse_program(made.text);
  for (const Symbol& symbol : program.symbols) {
    if (symbol.example) made.symbols.emplace(symbol.name, *symbol.example);
  }
  for (const Scalar& scalar : program.scalars) made.scalars.push_back(scalar.example.value_or(1));
  return made;
}

std::vector<GuardedTensor> tensors_before(const TileProgram& program, const ProgramCase& c,
                                          const std::function<double()>& next) {
  const std::vector<Access> access = resolve_access(Operation(program));
  std::vector<GuardedTensor> tensors;
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    const std::string& name = program.tensors[t].name;
    tensors.emplace_back(program.tensors[t], c.symbols);
    if (std::ranges::find(program.zeroed, name) != program.zeroed.end()) {
      tensors.back().fill([] { return 0.0; });
    } else if (access[t] != Access::out) {
      tensors.back().fill(next);
    }
  }
  return tensors;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> expect_interpreted(const TileProgram& program, const ProgramCase& c,
                                            std::vector<GuardedTensor> before,
                                            const std::vector<GuardedTensor>& after,
                                            double tolerance) {
  HostArguments args{.tensors = {}, .scalars = c.scalars, .symbols = c.symbols};
  for (GuardedTensor& tensor : before) args.tensors.push_back(tensor.data());
  std::string printed;
  InterpretOptions options;
  options.print = [&](std::string_view line) { (printed += line) += '\n'; };
  interpret(program, args, options);
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    const std::string& name = program.tensors[t].name;
    EXPECT_EQ(after[t].check_guards(), "") << "tensor " << name;
    const std::vector<double> actual = after[t].values();
    const std::vector<double> wanted = before[t].values();
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < actual.size(); ++e) {
      const double error = std::fabs(actual[e] - wanted[e]);
      const bool both_nan = std::isnan(actual[e]) && std::isnan(wanted[e]);
      const bool equal = actual[e] == wanted[e] || both_nan;
      if (equal || error <= tolerance * std::max(1.0, std::fabs(wanted[e]))) continue;
      if (wrong++ == 0) {
        ADD_FAILURE() << name << "[" << e << "] is " << actual[e] << ", the interpreter has "
                      << wanted[e];
      }
    }
    EXPECT_EQ(wrong, 0u) << "of " << actual.size() << " elements of " << name;
  }
  return sorted_lines(printed);
}

double small_integer(Random& random, bool is_signed) {
  return static_cast<double>(random() % (is_signed ? 9 : 5)) - (is_signed ? 4 : 0);
}

}  // namespace tilejit::test
