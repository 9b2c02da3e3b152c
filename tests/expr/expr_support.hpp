#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/program.hpp"
#include "tilejit/error.hpp"

namespace tilejit::expr {

/// The tensors that `formula` names, named after their dtypes (x_f16, x_bool, ...), the scalar
/// `alpha` of f32 if it names that, and the output y of `output`.
inline Scope scope_for(std::string_view formula, DType output = f32) {
  Scope scope;
  for (const DType dtype : kAllDTypes) {
    TensorSymbol tensor;
    tensor.name = "x_" + std::string(to_string(dtype));
    tensor.dtype = dtype;
    if (formula.find(tensor.name) != std::string_view::npos) scope.tensors.push_back(tensor);
  }
  TensorSymbol y;
  y.name = "y";
  y.dtype = output;
  scope.tensors.push_back(y);
  if (formula.find("alpha") != std::string_view::npos) scope.scalars.push_back({"alpha", f32});
  return scope;
}

/// The lines of the program, joined by "; ".
inline std::string program_text(const Program& program) {
  std::string text;
  for (const std::string& line : to_lines(program)) text += (text.empty() ? "" : "; ") + line;
  return text;
}

inline std::string compiled(std::string_view formula, DType output = f32) {
  return program_text(compile_formula(formula, scope_for(formula, output)));
}

/// The message of the Error{invalid_formula} that compiling throws; the test fails if it throws
/// none.
inline std::string refusal(std::string_view formula, const Scope& scope,
                           std::string_view where = "/formula") {
  try {
    const Program program = compile_formula(formula, scope);
    ADD_FAILURE() << "accepted: " << program_text(program).substr(0, 500);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_formula);
    EXPECT_EQ(error.where(), where);
    return error.what();
  }
  return {};
}

inline Scope scope_of_rank(std::string_view formula, int rank, std::vector<int> axis = {}) {
  Scope scope = scope_for(formula);
  scope.rank = rank;
  scope.axis = std::move(axis);
  return scope;
}

/// The program of a formula over a space of `rank` axes.
inline std::string lines(const std::string& formula, int rank = 3, std::vector<int> axis = {}) {
  return program_text(compile_formula(formula, scope_of_rank(formula, rank, std::move(axis))));
}

struct ProgramRow {
  const char* formula;
  const char* want;
};

}  // namespace tilejit::expr
