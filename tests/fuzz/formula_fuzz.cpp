// Any bytes as a formula: a program or Error{invalid_formula}, nothing else. The first byte chooses
// the dtypes; the text after a NUL byte is that of a function f(a, b).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "expr/program.hpp"
#include "expr/tree.hpp"
#include "tilejit/error.hpp"

namespace {

tilejit::expr::Scope scope_of(std::uint8_t choice, std::string_view function) {
  using tilejit::kAllDTypes;
  tilejit::expr::Scope scope;
  for (const char* name : {"a", "b", "x", "y"}) {
    tilejit::expr::TensorSymbol tensor;
    tensor.name = name;
    tensor.dtype = kAllDTypes[choice % 16];
    choice = static_cast<std::uint8_t>(choice * 7 + 3);
    scope.tensors.push_back(tensor);
  }
  scope.scalars = {{"s", kAllDTypes[choice % 16]}};
  scope.rank = choice % 4;
  if (!function.empty()) scope.functions = {{"f", {"a", "b"}, std::string(function)}};
  return scope;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t end = text.find('\0');
  const std::string_view function = end == text.npos ? "" : text.substr(end + 1);
  try {
    const tilejit::expr::Scope scope = scope_of(data[0], function);
    if (tilejit::expr::has_spaces(text.substr(0, end), scope.functions)) {
      const auto tree = tilejit::expr::compile_tree(text.substr(0, end), scope);
      if (tree.stores.size() != tree.stored.size()) std::abort();
      return 0;
    }
    const auto program = tilejit::expr::compile_formula(text.substr(0, end), scope);
    const bool elementwise = std::ranges::all_of(
        program.nodes, [](const tilejit::expr::Node& node) { return node.axes == 0; });
    if (elementwise && tilejit::expr::emit_cuda(program).empty()) std::abort();
    if (tilejit::expr::to_lines(program).size() != program.nodes.size() + program.stores.size()) {
      std::abort();
    }
  } catch (const tilejit::Error& error) {
    if (error.code() != tilejit::ErrorCode::invalid_formula) std::abort();
  }
  return 0;
}
