#include "spec/checks.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "core/json_pointer.hpp"
#include "core/text.hpp"
#include "spec/common.hpp"
#include "tilejit/coordinate_layout.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::spec {
namespace {

void fault(Problems& problems, std::string message, std::string where) {
  problems.add(ErrorCode::invalid_spec, std::move(message), std::move(where));
}

void check_bytes(const Tensor& tensor, const std::string& where, Problems& problems) {
  const auto is_known = [](const Mode& leaf) {
    return leaf.extent.is_known() && leaf.stride.is_known();
  };
  if (!std::ranges::all_of(tensor.layout.leaves(), is_known)) return;
  if (cosize(tensor.layout) > INT64_MAX / size_bytes(tensor.dtype)) {
    problems.add(ErrorCode::unsupported, "the tensor spans more than 2^63-1 bytes", where);
  }
}

}  // namespace

bool check_identifier(const std::string& name, const std::string& where, Problems& problems) {
  if (core::is_identifier(name)) return true;
  fault(
      problems,
      "the name " + in_quotes(name) + " is not an identifier: letters, digits and '_', at most 64",
      where);
  return false;
}

void check_tensor_count(std::size_t count, Problems& problems) {
  if (count >= 1 && count <= kMaxTensors) return;
  fault(problems, "an operation has 1 to 64 tensors, found " + std::to_string(count), "/tensors");
}

void check_tensor(const Tensor& tensor, Problems& problems) {
  const std::string where = core::pointer_to("/tensors", tensor.name);
  const bool power =
      tensor.align >= 1 && tensor.align <= 16 && (tensor.align & (tensor.align - 1)) == 0;
  if (!power || tensor.align < size_bytes(tensor.dtype)) {
    fault(problems,
          "align is " + std::to_string(tensor.align) +
              " bytes; use 1, 2, 4, 8 or 16, at least the element's " +
              std::to_string(size_bytes(tensor.dtype)),
          where + "/align");
  }
  try {
    (void)product(tensor.layout.shape());
    check_bytes(tensor, where + "/layout", problems);
  } catch (const Error& error) {
    problems.add(error, where + "/layout");
  }
}

std::map<std::string, std::int64_t> symbols_of(const std::vector<Tensor>& tensors,
                                               Problems& problems) {
  std::map<std::string, std::int64_t> found;
  for (const Tensor& tensor : tensors) {
    for (const Mode& mode : tensor.layout.leaves()) {
      for (const Dim& dim : {mode.extent, mode.stride}) {
        for (const std::string& symbol : dim.symbols()) found.emplace(symbol, 1);
        if (dim.is_product()) continue;
        const bool steps = coordinate_step(dim).has_value();
        fault(problems,
              "the layout of tensor '" + tensor.name + "' has the " +
                  (steps ? "coordinate stride " : "unknown ") + to_string(dim) +
                  (steps ? "; memory has strides of integers and symbols"
                         : "; give it a name, for example \"N\""),
              core::pointer_to("/tensors", tensor.name) + "/layout");
      }
    }
  }
  return found;
}

void check_symbols(const std::vector<Symbol>& symbols, std::string_view advice,
                   std::map<std::string, std::int64_t>& found, Problems& problems) {
  std::set<std::string> seen;
  for (const Symbol& symbol : symbols) {
    const std::string where = core::pointer_to("/symbols", symbol.name);
    const auto used = found.find(symbol.name);
    if (used == found.end()) {
      fault(problems,
            "no layout uses the symbol " + in_quotes(symbol.name) + "; " + std::string(advice),
            where);
    } else if (!seen.insert(symbol.name).second) {
      fault(problems, "the symbol '" + symbol.name + "' is described twice", where);
    } else if (symbol.divisible_by < 1 || symbol.divisible_by > INT32_MAX) {
      fault(problems,
            "divisible_by is 1 to 2147483647, found " + std::to_string(symbol.divisible_by), where);
    } else if (symbol.example &&
               (*symbol.example < 0 || *symbol.example % symbol.divisible_by != 0)) {
      fault(problems,
            "the example " + std::to_string(*symbol.example) + " is not a multiple of " +
                std::to_string(symbol.divisible_by) + " from 0 on",
            where);
    } else {
      used->second = symbol.divisible_by;
    }
  }
}

}  // namespace tilejit::spec
