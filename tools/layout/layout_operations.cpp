#include "layout/layout_operations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/command.hpp"
#include "common/suggestion.hpp"

namespace tilejit::cli {
namespace {

std::vector<Operation> all_operations() {
  std::vector<Operation> all;
  const auto add = [&](std::string_view group, std::vector<Operation> rows) {
    for (Operation& row : rows) {
      row.group = group;
      all.push_back(std::move(row));
    }
  };
  add("Layouts", shape_operations());
  add("Coordinates", coordinate_operations());
  add("Making layouts", making_operations());
  add("Modes", mode_operations());
  add("Algebra", algebra_operations());
  add("Functions of layouts, swizzles, thread-value layouts", function_operations());
  add("Int tuples", int_tuple_operations());
  return all;
}

}  // namespace

std::span<const Operation> operations() {
  static const std::vector<Operation> table = all_operations();
  return table;
}

const Operation& find_operation(std::string_view name) {
  const auto table = operations();
  const auto found = std::ranges::find(table, name, &Operation::name);
  if (found != table.end()) return *found;
  std::vector<std::string> names;
  for (const Operation& operation : table) names.emplace_back(operation.name);
  throw UsageError(
      fmt::format("there is no operation '{}'{}", name.substr(0, 64), suggestion(name, names)));
}

}  // namespace tilejit::cli
